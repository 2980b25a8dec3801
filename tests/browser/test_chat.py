"""Asking and being answered, in the sidebar."""

from __future__ import annotations

import re
import time

from tests.browser.lab import Lab, Model
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

LONG = "[[mock:text,chunks=400,delay_ms=25]]"


def test_what_is_typed_and_sent_is_shown_with_its_streamed_answer(panel: Panel) -> None:
    answer = panel.ask("[[mock:text,text=Good%20**morning**,chunks=3,delay_ms=2]]")
    expect(panel.mine).to_have_count(1)
    expect(answer).to_contain_text("Good morning")
    expect(answer.locator("strong")).to_have_text("morning")
    expect(panel.box).to_have_value("")


def test_enter_sends_and_shift_enter_breaks_the_line(panel: Panel) -> None:
    panel.box.click()
    panel.page.keyboard.type("first line")
    panel.page.keyboard.press("Shift+Enter")
    panel.page.keyboard.type("second line")
    panel.page.keyboard.press("Enter")
    expect(panel.mine).to_contain_text("second line")
    expect(panel.answers.last).to_contain_text("You said: first line")


def test_an_answer_grows_while_it_comes(panel: Panel) -> None:
    panel.send(LONG)
    grown = re.compile(r"(\S+\s+){10,}")
    expect(panel.answers.last).to_have_text(grown)
    first = panel.answers.last.inner_text()
    expect(panel.button("Stop")).to_be_visible()
    expect(panel.answers.last).not_to_have_text(first)
    panel.stop()


def test_a_turn_ends_with_one_line_about_its_tokens(panel: Panel) -> None:
    panel.ask("[[mock:text,say=Hi,prompt_tokens=1200,completion_tokens=40]]")
    expect(panel.place.get_by_text(re.compile(r"^1\.2k tokens"))).to_be_visible()


def test_stop_ends_the_turn_within_300_ms_and_keeps_what_was_said(panel: Panel) -> None:
    panel.send(LONG)
    expect(panel.answers.last).to_have_text(re.compile(r"(\S+\s+){25,}"))
    started = time.monotonic()
    panel.button("Stop").click()
    expect(panel.button("Stop")).to_have_count(0)
    took = (time.monotonic() - started) * 1000
    print(f"\nstop to idle: {took:.0f} ms")
    assert took < 300 * 2  # clicking and looking from outside the page take their time too
    expect(panel.answers.last).to_have_text(re.compile(r"\S+\s+\S+"))


def test_what_is_sent_while_a_turn_runs_joins_it(panel: Panel, model: Model) -> None:
    panel.send("[[mock:tools,rounds=1,tool=list_dir,first_ms=700,text=Done.]]")
    expect(panel.button("Stop")).to_be_visible()
    panel.box.fill("and mind the second sheet")
    panel.box.press("Enter")
    expect(panel.mine.last).to_contain_text("and mind the second sheet")
    panel.wait_idle()
    expect(panel.mine).to_have_count(2)
    expect(panel.answers.last).to_contain_text("Done.")
    assert model.requests()[-1]["round"] == 1, "the same turn, not one after it"


def test_a_message_is_edited_and_asked_again_in_a_new_chat(panel: Panel, lab: Lab) -> None:
    panel.ask("[[mock:text,say=First]] apples")
    panel.ask("[[mock:text,say=Second]] pears")
    before = len(lab.call("GET", "sessions?limit=200")["sessions"])
    panel.mine.last.hover()
    panel.mine.last.get_by_role("button", name=re.compile("^Edit")).click()
    box = panel.mine.last.get_by_role("textbox")
    box.fill("[[mock:text,say=Third]] plums")
    panel.mine.last.get_by_role("button", name="Save").click()
    expect(panel.answers.last).to_contain_text("Third")
    panel.wait_idle()
    expect(panel.answers).to_have_count(2)
    expect(panel.answers.first).to_contain_text("First")
    assert len(lab.call("GET", "sessions?limit=200")["sessions"]) == before + 1


def test_a_draft_survives_a_reload(panel: Panel, visitor: Visitor) -> None:
    panel.box.fill("half a thought")
    panel.page.wait_for_timeout(600)  # drafts are kept after a short pause, which nothing announces
    panel.page.reload()
    again = Panel.in_sidebar(panel.page)
    expect(again.box).to_have_value("half a thought")


def test_the_model_is_chosen_by_keyboard(panel: Panel, model: Model) -> None:
    picker = panel.place.get_by_role("combobox", name="Model")
    expect(picker.locator("option", has_text="mock-strict")).to_have_count(1)
    picker.focus()
    panel.page.keyboard.type("mock-s")
    expect(picker.locator("option:checked")).to_have_text("mock-strict")
    panel.ask("[[mock:text,say=Hi]] with another model")
    assert model.requests()[-1]["model"] == "mock-strict"


def test_two_tabs_on_one_chat_follow_the_same_turn_live(panel: Panel, lab: Lab, visitor: Visitor) -> None:
    panel.ask("[[mock:text,say=Hi]] shared between tabs")
    other = Panel.in_sidebar(visitor.lab(lab))
    other.open_chat("shared between tabs")
    expect(other.answers).to_have_count(1)
    panel.send("[[mock:text,chunks=120,delay_ms=20]]")
    expect(other.button("Stop")).to_be_visible()
    expect(other.answers.last).to_have_text(re.compile(r"\S+\s+\S+"))
    panel.wait_idle()
    other.wait_idle()
    expect(other.mine).to_have_count(2)
    expect(other.answers).to_have_count(2)
    assert other.answers.last.inner_text() == panel.answers.last.inner_text()
