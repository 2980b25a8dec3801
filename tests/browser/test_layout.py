"""Everything stays inside the panel at its narrowest, and what belongs together stands in one column."""

from __future__ import annotations

from typing import Any

import pytest

from cashcode_jupyter.testing import directive
from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

COLUMNS = 30
TABLE = "\n".join(
    "|" + "|".join(cell.format(number) for number in range(COLUMNS)) + "|" for cell in ("column {}", "---", "{}")
)
FILE = f"{'very_long_name_' * 20}"[:296] + ".csv"
WIDE = directive("tools", rounds=1, tool="read_file", args={"path": FILE}, text=TABLE)
OUTSIDE = """panel => {
  const { left, right } = panel.getBoundingClientRect();
  const parts = '.cc-header, .cc-header button, .cc-composer, .cc-composer button, .cc-composer textarea, ' +
    '.cc-composer select, .cc-message, .cc-row-line, .cc-attached, .cc-table';
  return [...panel.querySelectorAll(parts)]
    .map(node => [node.className || node.tagName, node.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.left < left - 0.5 || box.right > right + 0.5))
    .map(([name, box]) => `${name}: ${box.left - left} to ${box.right - left} of ${right - left}`);
}"""
SCROLLS = """panel => [panel, ...panel.querySelectorAll('.cc-frame, .cc-view, .cc-scroller, .cc-message')]
  .filter(node => node.scrollWidth > node.clientWidth && getComputedStyle(node).overflowX !== 'visible')
  .map(node => `${node.className}: ${node.scrollWidth} > ${node.clientWidth}`)"""
EDGES = """panel => ['.cc-message-row', '.cc-box'].map(name => {
  const { left, right } = panel.querySelector(name).getBoundingClientRect();
  return [Math.round(left), Math.round(right)];
})"""
ROW_HEIGHTS = "panel => [...panel.querySelectorAll('.cc-row-line')].map(row => row.getBoundingClientRect().height)"


@pytest.fixture
def wide(panel: Panel) -> Panel:
    """A chat with a table of 30 columns and a file name of 300 characters, 320 px wide."""
    panel.resize(320)
    panel.ask(f"{FILE} {WIDE}")
    expect(panel.answers.last.get_by_role("columnheader")).to_have_count(COLUMNS)
    expect(panel.answers.last.get_by_role("group", name="Tool call read_file")).to_contain_text(FILE[:100])
    return panel


def test_a_wide_table_and_a_long_file_name_stay_inside_a_panel_of_320_px(wide: Panel) -> None:
    found: Any = wide.place.evaluate(OUTSIDE)
    assert found == []
    assert wide.place.evaluate(SCROLLS) == []


def test_the_table_scrolls_by_itself(wide: Panel) -> None:
    assert wide.place.locator(".cc-table").first.evaluate("node => node.scrollWidth > node.clientWidth")


def test_chats_and_settings_stay_inside_a_panel_of_320_px(wide: Panel) -> None:
    for view in ("Chats", "Settings"):
        wide.button(view).click()
        assert wide.place.evaluate(OUTSIDE) == []
        assert wide.place.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
        wide.page.keyboard.press("Escape")


@pytest.mark.parametrize("width", [320, 900])
def test_messages_and_the_box_have_the_same_edges_and_all_rows_one_height(
    visitor: Visitor, lab: Lab, width: int
) -> None:
    page = visitor.lab(lab, width=1000, height=760)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    panel = Panel.in_sidebar(page) if width < 500 else Panel.in_tab(page)
    panel.resize(width)
    panel.ask("Why did revenue drop in May?")
    messages, box = panel.place.evaluate(EDGES)
    assert messages == box
    assert len(set(panel.place.evaluate(ROW_HEIGHTS))) == 1
