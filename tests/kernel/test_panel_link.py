"""A widget in a real kernel, with the agent inside it: what its page says and hears."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.kernel.conftest import Kernel, StartKernel
from tests.kernel.page import Page, text_of


def test_a_question_is_answered_and_its_chat_is_listed(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    events = page.ask("from-a-panel", directive(say="Hello from the kernel."))
    assert text_of(events) == "Hello from the kernel."
    status, found = page.request("GET", "sessions?limit=5")
    assert (status, [row["chat_id"] for row in found["sessions"]]) == (200, ["from-a-panel"])
    status, found = page.request("GET", "sessions/from-a-panel/messages?limit=10")
    assert [row["role"] for row in found["messages"]] == ["user", "assistant"]


def test_a_panel_shows_the_notebooks_chat_and_follows_a_cell_live(kernel: Kernel) -> None:
    page = Page(kernel)
    chat_id = kernel.value(f"{page.name}._chat_id")
    page.open()
    page.act(type="attach", chat_id=chat_id)
    page.events("attached")
    ran = kernel.run("%%cashcode\n" + directive(say="To both."))
    assert ran.shown["text/plain"] == "To both."
    assert text_of(page.events("done")) == "To both."


def test_a_request_that_comes_before_the_connection_is_there_is_answered_by_it(kernel: Kernel) -> None:
    page = Page(kernel)
    page.say({"kind": "hello"})
    page.say({"kind": "request", "id": 1, "method": "GET", "path": "settings/llm"})
    status, found = page.answer(1)
    assert (status, found["configured"]) == (200, True)


def test_a_key_is_written_and_never_read_back(kernel: Kernel, cashcode_home: CashcodeHome) -> None:
    page = Page(kernel)
    page.open()
    body = {"openai_compatible": {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-only-inwards"}}
    status, found = page.request("PUT", "settings/llm", body)
    assert (status, found["openai_compatible"]["api_key_configured"]) == (200, True)
    assert "sk-only-inwards" in cashcode_home.llm_settings.read_text()
    for path in ("settings/llm", "settings/llm/models", "health"):
        assert "sk-only-inwards" not in json.dumps(page.request("GET", path))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "nothing", 404, "not_found"),
        ("GET", "sessions/none/messages", 404, "not_found"),
        ("GET", "sessions/..%2f..%2fetc/messages", 404, "not_found"),
        ("GET", "../../api/contents", 404, "not_found"),
        ("GET", "memory", 404, "not_found"),
        ("GET", "sessions?limit=0", 422, "bad_frame"),
        ("POST", "health", 405, "bad_frame"),
        ("get", "health", 405, "bad_frame"),
        ("PATCH", "sessions/abc", 400, "bad_frame"),
    ],
)
def test_a_wrong_request_gets_its_code(kernel: Kernel, method: str, path: str, status: int, code: str) -> None:
    page = Page(kernel)
    page.open()
    found = page.request(method, path)
    assert (found[0], found[1]["code"]) == (status, code)


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        "hello",
        [],
        {},
        {"kind": ["hello"]},
        {"kind": "open"},
        {"kind": "action"},
        {"kind": "action", "action": "message"},
        {"kind": "action", "action": {"type": "fly"}},
        {"kind": "action", "action": {"type": "message", "chat_id": "../x", "content": "hi"}},
        {"kind": "action", "action": {"type": "attach", "chat_id": "a", "after_seq": "x"}},
        {"kind": "action", "action": {"type": "message", "chat_id": "a", "content": "x" * (1 << 20)}},
        {"kind": "request", "method": "GET", "path": "health"},
        {"kind": "request", "id": {"a": 1}, "method": "GET", "path": "health"},
        {"kind": "request", "id": "x" * 65, "method": "GET", "path": "health"},
    ],
)
def test_a_hostile_message_is_an_error_event_and_the_connection_stays(kernel: Kernel, message: Any) -> None:
    page = Page(kernel)
    page.open()
    page.say(message)
    [*_earlier, error] = page.events("error")
    assert error["code"] in ("bad_frame", "unknown_type", "invalid_chat_id")
    assert error["detail"]
    page.act(type="ping")
    page.events("pong")
    assert kernel.run("1").kinds == ["execute_result"]  # and nothing was printed about it


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"method": None, "path": "health"}, 400),
        ({"method": "GET", "path": 5}, 400),
        ({"method": "PUT", "path": "persona", "body": {"text": "x" * (1 << 20), "expected_hash": ""}}, 413),
        ({"method": "PUT", "path": "persona", "body": "text"}, 400),
    ],
)
def test_a_request_that_cannot_be_read_is_answered(kernel: Kernel, request_: Any, status: int) -> None:
    page = Page(kernel)
    page.open()
    page.say({"kind": "request", "id": 9, **request_})
    assert page.answer(9)[0] == status


def test_without_a_greeting_there_is_no_connection_and_that_is_said(kernel: Kernel) -> None:
    page = Page(kernel)
    page.act(type="ping")
    assert page.state()["state"] == "lost"
    assert page.request("GET", "health")[0] == 503


def test_two_views_of_a_widget_hear_each_event_once(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open(view="one")
    page.open(view="two")
    page.act(type="attach", chat_id="both")
    page.act(type="attach", chat_id="both")
    page.events("attached")
    events = page.ask("both", directive(chunks=50, delay_ms=2))
    spans = [(event.get("first_seq", event["seq"]), event["seq"]) for event in events if "seq" in event]
    numbers = [number for first, last in spans for number in range(first, last + 1)]
    assert numbers == list(range(1, numbers[-1] + 1))


def test_a_view_that_goes_leaves_the_other_its_connection_and_the_last_one_closes_it(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open(view="one")
    page.open(view="two")
    page.say({"kind": "bye", "view": "one"})
    page.act(type="ping")
    page.events("pong")
    page.say({"kind": "bye", "view": "two"})
    page.act(type="ping")
    assert page.state()["state"] == "lost"
    page.open(view="three")
    page.act(type="ping")
    page.events("pong")


def test_views_without_a_name_are_counted(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    page.open()
    page.say({"kind": "bye"})
    page.act(type="ping")
    page.events("pong")
    page.say({"kind": "bye"})
    page.act(type="ping")
    assert page.state()["state"] == "lost"


def test_a_long_answer_moves_little_more_than_its_bytes(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    page.bytes = 0
    events = page.ask("long", directive(chunks=20_000, size=8))
    assert len(text_of(events)) == 160_000
    assert page.bytes < 6 * 160_000


def test_an_approval_is_given_in_the_panel(kernel: Kernel, cashcode_home: CashcodeHome) -> None:
    (cashcode_home.data / "approvals.json").write_text(json.dumps({"risks": {"read": "ask"}, "tools": {}}))
    page = Page(kernel)
    page.open()
    page.act(type="message", chat_id="asks", content=directive("tools", tool="list_dir", say="done"))
    question = page.events("approval_request")[-1]
    page.act(type="approval", chat_id="asks", call_id=question["call_id"], decision="allow", scope="once")
    events = page.events("done", "error")
    assert [event["ok"] for event in events if event["event"] == "tool_result"] == [True]


def test_a_turn_streams_into_the_panel_while_a_cell_runs(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    page.act(type="message", chat_id="live", content=directive(chunks=20, delay_ms=20))
    page.events("turn_started")
    kernel.send("input('busy')")
    kernel.asked_for_input()
    page.events("done")
    kernel.client.input("")


def test_a_busy_kernel_hears_the_panel_when_its_cell_is_over(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    msg_id = kernel.send("input('busy')")
    kernel.asked_for_input()
    page.act(type="ping")
    kernel.client.input("")
    page.events("pong")
    kernel.collect(msg_id)


def test_reloading_the_extension_is_told_and_a_greeting_opens_the_new_session(kernel: Kernel) -> None:
    page = Page(kernel)
    page.open()
    kernel.run("%reload_ext cashcode_jupyter")
    assert page.state()["state"] == "lost"
    page.open()
    assert text_of(page.ask("again", directive(say="Here again."))) == "Here again."


def test_a_kernel_with_an_open_panel_shuts_down_at_once(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    page = Page(kernel)
    page.open()
    page.act(type="message", chat_id="unfinished", content=directive(chunks=1000, delay_ms=20))
    page.events("delta")
    kernel.close()
    assert not kernel.client.is_alive()
