"""axe-core finds nothing serious, in any view and both themes; the whole panel works without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest

from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

THEMES = ("JupyterLab Light", "JupyterLab Dark")
RUN_AXE = """async () => {
  const found = await axe.run('.cc-panel', { resultTypes: ['violations'] });
  return found.violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => `${one.id} (${one.impact}): ${one.nodes.map(node => node.html.slice(0, 160) + ' ' +
      (node.any[0]?.message ?? '')).slice(0, 4).join(' | ')}`);
}"""


def violations(panel: Panel) -> Any:
    panel.page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    return panel.page.evaluate(RUN_AXE)


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def themed(visitor: Visitor, lab: Lab, theme: str) -> Panel:
    lab.look(theme=theme)
    return Panel.in_sidebar(visitor.lab(lab))


def test_a_chat_with_a_tool_code_and_a_table_has_no_serious_violation(themed: Panel, lab: Lab) -> None:
    (lab.work / "sales.csv").write_text("month,units\nMay,3\n")
    themed.ask("Why did revenue drop in May?")
    assert violations(themed) == []


def test_a_running_answer_with_an_approval_has_no_serious_violation(themed: Panel, lab: Lab) -> None:
    policy = lab.call("GET", "settings/approvals")
    lab.call("PUT", "settings/approvals", {**policy, "risks": {**policy["risks"], "read": "ask"}})
    try:
        themed.send("Why did revenue drop in May?")
        expect(themed.button("Deny").first).to_be_visible()
        assert violations(themed) == []
        themed.stop()
    finally:
        lab.call("PUT", "settings/approvals", policy)


def test_the_list_of_chats_has_no_serious_violation(themed: Panel) -> None:
    themed.ask("A chat for the list")
    themed.button("Chats").click()
    expect(themed.chats).to_be_visible()
    assert violations(themed) == []


def test_the_settings_have_no_serious_violation(themed: Panel) -> None:
    themed.button("Settings").click()
    expect(themed.place.get_by_role("textbox", name="Base URL")).to_be_visible()
    assert violations(themed) == []


def test_the_first_run_has_no_serious_violation(visitor: Visitor, make_lab: Callable[..., Lab], theme: str) -> None:
    visitor.watch.expect("status of 400")  # how the server says that there is no Ollama
    lab = make_lab(None)
    lab.look(theme=theme)
    panel = Panel.in_sidebar(visitor.lab(lab))
    expect(panel.place.get_by_text("Connect an API").first).to_be_visible()
    assert violations(panel) == []


def test_the_panel_takes_its_colours_from_the_theme(themed: Panel, theme: str) -> None:
    channels = themed.place.evaluate(
        "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]"
        ".map(text => text.match(/[\\d.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3)"
    )
    background, text = channels
    assert (background > text) == (theme == "JupyterLab Light"), channels


def test_every_control_of_the_chat_is_reached_by_tab_and_shows_where_the_focus_is(panel: Panel) -> None:
    panel.ask("[[mock:text,say=Hi]] by keyboard")
    panel.box.focus()
    names: list[str] = []
    for _ in range(60):
        panel.page.keyboard.press("Shift+Tab")
        inside, name, ring = panel.page.evaluate(
            """() => {
              const at = document.activeElement, style = getComputedStyle(at);
              const outlined = style.outlineStyle !== 'none' && style.outlineWidth !== '0px';
              const ring = outlined || style.boxShadow !== 'none';
              const name = at.getAttribute('aria-label') || at.textContent.trim();
              return [!!at.closest('.cc-panel'), name, ring || at.matches('[tabindex="-1"]')];
            }"""
        )
        if not inside:
            break
        assert ring, f"no focus ring on {name!r}"
        names.append(name)
    for wanted in ("Chats", "Settings", "New chat"):
        assert any(wanted in name for name in names), (wanted, names)


def test_streamed_text_is_announced_politely_and_not_letter_by_letter(panel: Panel) -> None:
    panel.page.evaluate(
        """() => {
          window.said = 0;
          const live = '.cc-panel [aria-live=polite], .cc-panel [role=status], .cc-panel [role=log]';
          new MutationObserver(changes => {
            window.said += changes.filter(change => {
              const node = change.target.nodeType === 1 ? change.target : change.target.parentElement;
              const region = node?.closest(live);
              return region && !node.closest('[aria-live=off], [aria-busy=true]');
            }).length;
          }).observe(document.querySelector('.cc-panel'), { childList: true, characterData: true, subtree: true });
        }"""
    )
    panel.ask("[[mock:text,chunks=200,delay_ms=5]]")
    assert panel.page.evaluate("window.said") < 40


def test_reduced_motion_is_respected(visitor: Visitor, lab: Lab) -> None:
    panel = Panel.in_sidebar(visitor.lab(lab, reduced_motion="reduce"))
    panel.send("[[mock:text,chunks=200,delay_ms=20]]")
    expect(panel.answers.last).to_have_text(re.compile(r"\w+"))
    moving = panel.page.evaluate(
        "document.getAnimations().filter(one => one.effect?.target?.closest?.('.cc-panel') && "
        "one.playState === 'running' && one.effect.getComputedTiming().duration > 20).length"
    )
    assert moving == 0
    panel.stop()
