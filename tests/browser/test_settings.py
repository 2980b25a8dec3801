"""The settings keep what somebody else wrote and what was set, until the person says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab import Lab, Model
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator


@pytest.fixture
def own_lab(make_lab: Callable[..., Lab], model: Model) -> Lab:
    return make_lab(model)


@pytest.fixture
def settings(visitor: Visitor, own_lab: Lab) -> Panel:
    panel = Panel.in_sidebar(visitor.lab(own_lab))
    panel.button("Settings").click()
    return panel


def section(settings: Panel, name: str) -> Locator:
    return settings.region("settings").get_by_role("group", name=name, exact=True)


def test_a_persona_that_changed_elsewhere_is_shown_beside_mine_and_i_choose(
    settings: Panel, own_lab: Lab, visitor: Visitor
) -> None:
    visitor.watch.expect("status of 409")  # the conflict, as the browser tells it
    persona = section(settings, "Persona")
    box = persona.get_by_role("textbox", name="Persona")
    box.fill("I am brief.")
    before = own_lab.call("GET", "persona")
    own_lab.call("PUT", "persona", {"text": "I am theirs.", "expected_hash": before["hash"]})
    persona.get_by_role("button", name="Save").click()
    choice = persona.get_by_role("alertdialog")
    expect(choice).to_contain_text("I am brief.")
    expect(choice).to_contain_text("I am theirs.")
    assert own_lab.call("GET", "persona")["text"].strip() == "I am theirs."
    choice.get_by_role("button", name="Keep mine").click()
    expect(choice).to_have_count(0)
    expect(persona.get_by_role("status")).to_have_text("Saved")
    expect(box).to_have_value("I am brief.")
    assert own_lab.call("GET", "persona")["text"].strip() == "I am brief."


def test_a_key_is_set_replaced_and_cleared_and_each_can_be_undone_before_it_is_saved(
    settings: Panel, own_lab: Lab
) -> None:
    api = section(settings, "Generic API")
    key = api.get_by_role("textbox", name="API key")
    clear, undo, save = (api.get_by_role("button", name=name) for name in ("Clear key", "Undo", "Save"))

    def is_set() -> bool:
        return own_lab.call("GET", "settings/llm")["openai_compatible"]["api_key_configured"]

    expect(api).to_contain_text("Not set.")
    key.fill("sk-first")
    save.click()
    expect(api).to_contain_text("Type a new key to replace it.")
    expect(key).to_have_value("")
    assert is_set()

    key.fill("sk-second")
    expect(api).to_contain_text("Replaces the key when you save.")
    undo.click()
    expect(key).to_have_value("")
    expect(save).to_be_disabled()

    clear.click()
    expect(api).to_contain_text("The key is removed when you save.")
    undo.click()
    expect(api).to_contain_text("Type a new key to replace it.")
    assert is_set()

    clear.click()
    save.click()
    expect(api).to_contain_text("Not set.")
    assert not is_set()
    assert "sk-" not in settings.place.inner_text()
