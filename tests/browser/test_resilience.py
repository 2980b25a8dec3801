"""Whatever breaks the connection, nothing is lost, nothing is doubled, and the panel says what is the matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.browser.lab import Lab, Model
from tests.browser.panel import Panel, expect
from tests.browser.visit import BROKEN_CONNECTION, Visitor
from tests.browser.wire import Wire

if TYPE_CHECKING:
    from playwright.sync_api import Locator

WORDS = "".join(f"w{number:03d} " for number in range(150))
SLOW = f"[[mock:text,text={WORDS.strip().replace(' ', '%20')},size=5,delay_ms=20]]"


def lost(panel: Panel) -> Locator:
    """The line that says what is the matter while there is no connection."""
    return panel.place.get_by_role("status", name="Connection").filter(has_text=re.compile("."))


def whole(panel: Panel) -> None:
    """Each of the words is there once, in order."""
    panel.wait_idle()
    found = re.findall(r"w\d{3}", panel.answers.last.inner_text())
    assert found == WORDS.split()


def test_a_connection_that_breaks_in_the_middle_of_an_answer_loses_and_doubles_nothing(
    visitor: Visitor, lab: Lab
) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    with Wire(lab.port) as wire:
        panel = Panel.in_sidebar(visitor.lab(lab, port=wire.port))
        panel.send(SLOW)
        expect(panel.answers.last).to_contain_text("w010")
        wire.cut()
        expect(lost(panel)).to_have_count(1)
        wire.mend()
        expect(panel.answers.last).to_contain_text("w149")
        whole(panel)
        expect(panel.mine).to_have_count(1)


def test_an_answer_that_ended_while_the_connection_was_down_is_there_afterwards(visitor: Visitor, lab: Lab) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    with Wire(lab.port) as wire:
        panel = Panel.in_sidebar(visitor.lab(lab, port=wire.port))
        panel.send(SLOW)
        expect(panel.answers.last).to_contain_text("w010")
        wire.cut()
        for _ in range(200):
            if not lab.call("GET", "sessions?limit=1")["sessions"][0]["running"]:
                break
            panel.page.wait_for_timeout(50)
        wire.mend()
        expect(panel.answers.last).to_contain_text("w149")
        whole(panel)
        expect(panel.answers).to_have_count(1)


def test_a_message_that_cannot_leave_stays_with_the_person(visitor: Visitor, lab: Lab) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    with Wire(lab.port) as wire:
        panel = Panel.in_sidebar(visitor.lab(lab, port=wire.port))
        panel.ask("[[mock:text,say=Hi]] before the cut")
        wire.cut()
        expect(lost(panel)).to_have_count(1)
        panel.box.fill("do not lose me")
        panel.box.press("Enter")
        kept = panel.place.get_by_text("do not lose me").or_(panel.box)
        expect(kept.first).to_be_visible()
        assert "do not lose me" in panel.place.inner_text() or panel.box.input_value() == "do not lose me"
        wire.mend()


def test_a_restarted_server_is_found_again_and_the_chat_goes_on(
    visitor: Visitor, make_lab: Callable[..., Lab], model: Model
) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    lab = make_lab(model)
    panel = Panel.in_sidebar(visitor.lab(lab))
    panel.ask("[[mock:text,say=Before]] the restart")
    lab.stop()
    expect(lost(panel)).to_have_count(1)
    lab.start()
    expect(lost(panel)).to_have_count(0, timeout=30_000)
    expect(panel.ask("[[mock:text,say=After]] the restart")).to_contain_text("After")
    expect(panel.answers).to_have_count(2)
    expect(panel.mine).to_have_count(2)


def test_a_server_that_was_killed_in_the_middle_of_an_answer_leaves_what_was_said(
    visitor: Visitor, make_lab: Callable[..., Lab], model: Model
) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    lab = make_lab(model)
    panel = Panel.in_sidebar(visitor.lab(lab))
    panel.send(SLOW)
    expect(panel.answers.last).to_contain_text("w010")
    lab.stop(kill=True)
    expect(lost(panel)).to_have_count(1)
    lab.start()
    expect(lost(panel)).to_have_count(0, timeout=30_000)
    expect(panel.answers.last).to_contain_text("w010")
    expect(panel.answers.last.get_by_role("alert")).to_contain_text("before this answer was complete")
    expect(panel.answers.last.get_by_role("button", name="Retry")).to_be_visible()
    panel.wait_idle()
    expect(panel.mine).to_have_count(1)
    # The model reads both messages in one, and the first says what it answers.
    expect(panel.ask("and after the kill")).to_contain_text("w149")
    expect(panel.answers).to_have_count(2)
    expect(panel.answers.first).to_contain_text("w010")


def test_a_prefix_with_a_sign_in_it_is_kept_in_every_address(
    visitor: Visitor, make_lab: Callable[..., Lab], model: Model
) -> None:
    lab = make_lab(model, base_url="/user/a@b/")
    panel = Panel.in_sidebar(visitor.lab(lab))
    expect(panel.ask("[[mock:text,say=Under a prefix]]")).to_contain_text("Under a prefix")
    panel.button("Chats").click()
    expect(panel.chats.get_by_role("listitem")).to_have_count(1)
