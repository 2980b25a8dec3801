"""A person without any settings gets going by clicks alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab import Lab, Model
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator

REFUSED = "status of 400"  # how the server says that nothing listens at an address, e.g. no Ollama here


@pytest.fixture
def first(make_lab: Callable[..., Lab], visitor: Visitor) -> Panel:
    visitor.watch.expect(REFUSED)
    return Panel.in_sidebar(visitor.lab(make_lab(None)))


def test_three_ways_to_begin_are_offered_when_no_model_is_configured(first: Panel) -> None:
    for name in ("Try the tiny built-in model", "Connect Ollama", "Connect an API"):
        expect(card(first, name)).to_be_visible()


def test_an_api_is_connected_by_its_address_and_answers_the_first_message(first: Panel, model: Model) -> None:
    connect(first, model.url)
    expect(first.box).to_be_editable()
    expect(first.ask("[[mock:text,say=Good morning]]")).to_contain_text("Good morning")


def test_an_address_where_nothing_listens_is_said_in_a_sentence_and_can_be_corrected(
    first: Panel, model: Model
) -> None:
    api = card(first, "Connect an API")
    api.get_by_role("textbox", name="Base URL").fill("http://127.0.0.1:9/v1")
    api.get_by_role("button", name="Test connection").click()
    expect(api.get_by_role("alert")).to_contain_text("cannot be reached")
    connect(first, model.url)
    expect(first.box).to_be_editable()


def card(panel: Panel, name: str) -> Locator:
    return panel.place.get_by_role("group", name=name)


def connect(panel: Panel, url: str) -> None:
    api = card(panel, "Connect an API")
    api.get_by_role("textbox", name="Base URL").fill(url)
    api.get_by_role("button", name="Test connection").click()
    expect(api.get_by_role("status")).to_have_text(re.compile("found: 2"))
    api.get_by_role("button", name=re.compile("^Connect")).click()
    expect(panel.place.get_by_role("status").filter(has_text="mock answers now").first).to_be_attached()
