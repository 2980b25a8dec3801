"""How long a panel's connection lasts, over a core in this process."""

from __future__ import annotations

import queue
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from cashcode_jupyter.kernel.background import Background
from cashcode_jupyter.kernel.link import Door
from cashcode_jupyter.kernel.panel_link import PanelLink
from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.fixtures import CashcodeHome


class Views:
    """A panel's link and what it posts."""

    def __init__(self, background: Background, door: Door) -> None:
        self.posted: queue.Queue[dict[str, Any]] = queue.Queue()
        self.link = PanelLink(background, door, self.posted.put)

    def until(self, **wanted: Any) -> dict[str, Any]:
        while True:
            message = self.posted.get(timeout=20)
            if wanted.items() <= (message | message.get("event", {})).items():
                return message


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.close()


@pytest.fixture
def door(background: Background, cashcode_home: CashcodeHome, monkeypatch: pytest.MonkeyPatch) -> Door:
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    return Door(background)


@pytest.fixture
def silent() -> Iterator[dict[str, Any]]:
    """A model server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        yield {"openai_compatible": {"base_url": f"http://127.0.0.1:{listening.getsockname()[1]}/v1"}}


def opened(background: Background, door: Door) -> Views:
    views = Views(background, door)
    views.link.hear({"kind": "hello"})
    views.until(kind="state", state="open")
    return views


def ask(views: Views, content: str) -> None:
    views.link.hear({"kind": "action", "action": {"type": "message", "chat_id": "shared", "content": content}})


def test_a_closed_panel_hears_nothing_any_more(background: Background, door: Door) -> None:
    first, second = opened(background, door), opened(background, door)
    first.link.hear({"kind": "action", "action": {"type": "attach", "chat_id": "shared"}})
    first.until(event="attached")
    ask(second, directive(say="For both."))
    assert first.until(event="done")
    first.link.close()
    ask(second, directive(say="For one."))
    second.until(event="done")
    second.until(event="done")
    assert first.posted.empty()


def test_a_running_turn_outlives_its_panel(background: Background, door: Door) -> None:
    first, second = opened(background, door), opened(background, door)
    ask(first, directive(chunks=20, delay_ms=10))
    first.until(event="turn_started")
    second.link.hear({"kind": "action", "action": {"type": "attach", "chat_id": "shared", "after_seq": 0}})
    first.link.close()
    second.until(event="done", stop_reason="answered")


def test_the_end_of_the_session_is_told_to_open_panels(background: Background, door: Door) -> None:
    views = opened(background, door)
    background.close()
    views.until(kind="state", state="lost")


def test_a_core_that_cannot_start_is_said_and_a_greeting_tries_again(
    background: Background, door: Door, cashcode_home: CashcodeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASHCODE_MAX_RETRIES", "many")
    views = Views(background, door)
    views.link.hear({"kind": "hello"})
    assert "CASHCODE_MAX_RETRIES" in views.until(kind="state", state="lost")["detail"]
    monkeypatch.delenv("CASHCODE_MAX_RETRIES")
    views.link.hear({"kind": "hello"})
    views.until(kind="state", state="open")


def test_more_requests_than_can_be_under_way_are_refused(
    background: Background, door: Door, silent: dict[str, Any]
) -> None:
    views = opened(background, door)
    for number in range(40):
        views.link.hear(
            {"kind": "request", "id": number, "method": "POST", "path": "settings/llm/test", "body": silent}
        )
    assert views.until(kind="answer", id=39)["status"] == 503


def test_a_cancelled_request_is_not_answered_and_makes_room(
    background: Background, door: Door, silent: dict[str, Any]
) -> None:
    views = opened(background, door)
    for _again in range(3):
        for number in range(32):
            views.link.hear(
                {"kind": "request", "id": number, "method": "POST", "path": "settings/llm/test", "body": silent}
            )
            views.link.hear({"kind": "cancel", "id": number})
    views.link.hear({"kind": "request", "id": 1000, "method": "GET", "path": "health"})
    assert views.until(kind="answer")["id"] == 1000
