"""A panel's messages over the wire: what they weigh, what a hostile page can do, and a server that comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from cashcode_jupyter.testing import directive
from tests.kernel.conftest import Kernel
from tests.kernel.page import Page, text_of
from tests.kernel.test_server_link import Cable, Jupyter, StartServer, cabled, model, start_server

__all__ = ["cabled", "model", "start_server"]

CHUNKS, SIZE = 20_000, 8


def nested(depth: int) -> Any:
    value: Any = []
    for _level in range(depth):
        value = [value]
    return value


def as_browsers_write(value: Any) -> bytes:
    """JSON as `JSON.stringify` writes it, which carries half a surrogate pair as an escape."""
    return json.dumps(value, default=str).encode()


@pytest.fixture
def page(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr(kernel.client.session, "pack", as_browsers_write)
    page = Page(kernel)
    page.open()
    return page


class WholePage(Page):
    """A page that weighs whole messages: header, parent, metadata and content."""

    def weigh(self, chat_id: str, content: str) -> tuple[list[dict[str, Any]], int, int]:
        self.act(type="message", chat_id=chat_id, content=content)
        events: list[dict[str, Any]] = []
        size = messages = 0
        while not events or events[-1]["event"] not in ("done", "error"):
            message = self.kernel.told(self.comm_id)
            parts = [message[name] for name in ("header", "parent_header", "metadata", "content")]
            size += len(json.dumps(parts, default=str, ensure_ascii=False).encode())
            messages += 1
            heard = message["content"]["data"].get("content", {})
            if heard.get("kind") == "event":
                events.append(heard["event"])
        return events, size, messages


def test_an_answer_of_20_000_pieces_moves_at_most_six_times_its_bytes(
    kernel: Kernel, record_property: Callable[[str, object], None]
) -> None:
    page = WholePage(kernel)
    page.open()
    events, size, messages = page.weigh("weighed", directive(chunks=CHUNKS, size=SIZE))
    text = len(text_of(events).encode())
    record_property("times its bytes", round(size / text, 2))
    print(f"\n{text} bytes of answer moved as {size} bytes in {messages} messages: {size / text:.2f} times")
    assert text == CHUNKS * SIZE
    assert size <= 6 * text
    spans = [(event.get("first_seq", event["seq"]), event["seq"]) for event in events if event["event"] == "delta"]
    assert all(first == before + 1 for (_, before), (first, _) in pairwise(spans))


@pytest.mark.parametrize(
    "action",
    [
        {"type": "message", "chat_id": "deep", "content": "hi", "metadata": nested(700)},
        {"type": "message", "chat_id": "deep", "content": nested(700)},
        {"type": nested(50)},
        {"type": "attach", "chat_id": nested(3), "after_seq": 1},
        {"type": "attach", "chat_id": "deep", "after_seq": float("nan")},
        {"type": "attach", "chat_id": "deep", "after_seq": -(10**30)},
        {"type": "message", "chat_id": "\ud800", "content": "hi"},
        {"type": "approval", "chat_id": "deep", "call_id": "none", "decision": "allow"},
    ],
)
def test_a_hostile_action_is_an_error_event_and_leaves_no_trace_in_the_kernel(
    page: Page, action: dict[str, Any]
) -> None:
    page.act(**action)
    [*_earlier, error] = page.events("error")
    assert error["code"] != "internal"
    page.act(type="ping")
    page.events("pong")
    assert page.kernel.run("1").kinds == ["execute_result"]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "//",
        "sessions?limit=" + "9" * 5000,
        "sessions/%00/messages",
        "sessions/\ud800/messages",
        "h" * 100_000,
    ],
)
def test_a_hostile_path_is_answered_with_a_client_error(page: Page, path: str) -> None:
    status, body = page.request("GET", path)
    assert 400 <= status < 500
    assert body["detail"]
    assert page.kernel.run("1").kinds == ["execute_result"]


def test_half_a_surrogate_pair_breaks_no_connection(page: Page) -> None:
    assert page.ask("halves", "half \ud83d of a pair")[-1]["event"] == "done"
    status, found = page.request("GET", "sessions/halves/messages?limit=10")
    assert (status, len(found["messages"])) == (200, 2)
    assert page.kernel.run("1").kinds == ["execute_result"]


def test_a_flood_of_messages_is_refused_in_words_and_passes(page: Page) -> None:
    for _count in range(2_000):
        page.act(type="ping")
    page.act(type="attach", chat_id="after-the-flood")
    page.say({"kind": "request", "id": "last", "method": "GET", "path": "health"})
    assert page.answer("last")[0] == 200
    page.act(type="ping")
    page.events("pong")


def test_a_server_that_was_restarted_is_found_again(
    cabled: tuple[Cable, Kernel, Jupyter], start_server: StartServer
) -> None:
    cable, kernel, first = cabled
    page = Page(kernel)
    page.open()
    assert text_of(page.ask("moved", directive(say="From the first."))) == "From the first."
    first.stop()
    cable.cut()
    assert page.state()["state"] == "lost"
    second = start_server()
    cable.plug(second.info["port"])
    page.say({"kind": "hello"})
    page.hear(lambda message: message["kind"] == "state" and message["state"] == "open")
    assert text_of(page.ask("moved", directive(say="From the second."))) == "From the second."
    assert second.chats() == ["moved"]
