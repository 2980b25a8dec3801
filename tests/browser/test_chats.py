"""The list of chats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def listed(panel: Panel) -> Locator:
    return panel.chats.get_by_role("listitem")


def open_list(panel: Panel) -> None:
    panel.button("Chats").click()
    expect(panel.chats).to_be_visible()


def test_a_chat_is_found_by_a_word_of_its_title_and_opened(panel: Panel) -> None:
    panel.ask("The price of saffron")
    panel.button("New chat").click()
    expect(panel.answers).to_have_count(0)
    open_list(panel)
    panel.place.get_by_role("searchbox").fill("saffron")
    expect(listed(panel)).to_have_count(1)
    listed(panel).get_by_role("button", name=re.compile("saffron")).first.click()
    expect(panel.mine).to_contain_text("The price of saffron")


def test_a_chat_is_renamed_in_the_list(panel: Panel, lab: Lab) -> None:
    panel.ask("A chat to rename")
    open_list(panel)
    mine = listed(panel).filter(has_text="A chat to rename")
    mine.hover()
    mine.get_by_role("button", name="Rename chat").click()
    box = panel.place.get_by_role("textbox", name="Chat title")
    box.fill("Renamed by hand")
    box.press("Enter")
    expect(listed(panel).filter(has_text="Renamed by hand")).to_have_count(1)
    titles = [row["title"] for row in lab.call("GET", "sessions?limit=200")["sessions"]]
    assert "Renamed by hand" in titles and "A chat to rename" not in titles


def test_a_chat_is_deleted_only_after_a_question_that_names_it(panel: Panel, lab: Lab) -> None:
    panel.ask("A chat to delete")
    open_list(panel)
    mine = listed(panel).filter(has_text="A chat to delete")
    mine.hover()
    mine.get_by_role("button", name="Delete chat").click()
    question = panel.place.get_by_role("alertdialog")
    expect(question).to_contain_text("A chat to delete")
    question.get_by_role("button", name="Cancel").click()
    expect(mine).to_have_count(1)
    mine.hover()
    mine.get_by_role("button", name="Delete chat").click()
    question.get_by_role("button", name=re.compile("^Delete")).click()
    expect(mine).to_have_count(0)
    titles = [row["title"] for row in lab.call("GET", "sessions?limit=200")["sessions"]]
    assert "A chat to delete" not in titles
