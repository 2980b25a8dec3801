"""A tool call is a row; one that needs an answer waits for the person, who may use the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from cashcode_jupyter.testing import script
from tests.browser.answers import SALES
from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

READ = script([[("read_file", {"path": "sales.csv"})]], text="I read it.")


@pytest.fixture
def asking(panel: Panel, lab: Lab) -> Iterator[Panel]:
    """Reading asks, set by the panel's own settings."""
    (lab.work / "sales.csv").write_text(SALES)
    panel.button("Settings").click()
    rules = panel.region("settings").get_by_role("group", name="Approvals")
    rules.get_by_role("combobox", name=re.compile("^Read")).select_option(label="Ask first")
    rules.get_by_role("button", name="Save").click()
    expect(rules.get_by_role("status")).to_have_text("Saved")
    panel.button("Back to the chat").click()
    expect(panel.box).to_be_visible()
    yield panel
    policy = lab.call("GET", "settings/approvals")
    lab.call("PUT", "settings/approvals", {**policy, "risks": {**policy["risks"], "read": "allow"}})


def row(panel: Panel) -> Locator:
    return panel.place.get_by_role("group", name="Tool call read_file")


def test_a_tool_call_is_one_row_with_its_outcome(panel: Panel, lab: Lab) -> None:
    (lab.work / "sales.csv").write_text(SALES)
    panel.ask(READ)
    expect(row(panel)).to_have_count(1)
    expect(row(panel)).to_contain_text("sales.csv")
    expect(row(panel)).not_to_have_attribute("aria-busy", "true")
    expect(panel.answers.last).to_contain_text("I read it.")


def test_a_row_opens_and_shows_what_the_tool_found(panel: Panel, lab: Lab) -> None:
    (lab.work / "sales.csv").write_text(SALES)
    panel.ask(READ)
    row(panel).get_by_role("button").first.click()
    expect(row(panel)).to_contain_text("April,tea,1240")


def test_a_call_that_asks_waits_and_runs_when_it_is_allowed_once(asking: Panel) -> None:
    asking.send(READ)
    expect(asking.button("Allow once")).to_be_visible()
    asking.button("Allow once").click()
    asking.wait_idle()
    expect(asking.button("Allow once")).to_have_count(0)
    expect(asking.answers.last).to_contain_text("I read it.")
    asking.send(READ)  # once is once
    expect(asking.button("Deny")).to_be_visible()
    asking.button("Deny").click()
    asking.wait_idle()


def test_a_denied_call_does_not_run_and_the_answer_goes_on(asking: Panel) -> None:
    asking.send(READ)
    asking.button("Deny").click()
    asking.wait_idle()
    row(asking).get_by_role("button").first.click()
    expect(row(asking)).not_to_contain_text("April,tea,1240")
    expect(asking.answers.last).to_contain_text("I read it.")


def test_enter_in_the_middle_of_typing_never_allows(asking: Panel) -> None:
    asking.send(READ)
    expect(asking.button("Deny")).to_be_visible()
    asking.box.focus()
    asking.page.keyboard.press("Enter")
    expect(asking.button("Deny")).to_be_visible()
    asking.button("Deny").click()
    asking.wait_idle()


def test_the_keyboard_alone_reaches_deny_first_and_allows_on_purpose(asking: Panel) -> None:
    asking.box.focus()
    asking.page.keyboard.type(READ)
    asking.page.keyboard.press("Enter")
    expect(asking.button("Deny")).to_be_visible()
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"
    names: list[str] = []
    for _ in range(40):
        names.append(asking.page.evaluate(focused))
        if names[-1] == "Allow once":
            break
        asking.page.keyboard.press("Shift+Tab")
    assert names[-1] == "Allow once", names
    assert "Deny" in names[:-1], f"Deny must come before Allow: {names}"
    asking.page.keyboard.press("Enter")
    asking.wait_idle()
    expect(asking.answers.last).to_contain_text("I read it.")
