"""The page of a widget: what the panel's JavaScript sends to a kernel and hears from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from tests.kernel.conftest import Kernel

Message = dict[str, Any]


class Page:
    """All views of one widget; `name` is the variable that holds it in the kernel."""

    _names = count()

    def __init__(self, kernel: Kernel, call: str = "cashcode.panel()") -> None:
        self.kernel = kernel
        self.name = f"panel_{next(self._names)}"
        ran = kernel.run(f"import cashcode_jupyter as cashcode\n{self.name} = {call}")
        assert not ran.of("error"), ran.error
        self.comm_id = kernel.value(f"{self.name}.comm.comm_id")
        self.bytes = 0
        self._numbers = count(1)

    def say(self, message: Any) -> None:
        self.kernel.tell(self.comm_id, {"method": "custom", "content": message})

    def hear(self, until: Callable[[Message], bool]) -> list[Message]:
        """Messages up to and including the first for which the condition holds."""
        heard: list[Message] = []
        while not heard or not until(heard[-1]):
            data = self.kernel.told(self.comm_id)["content"]["data"]
            if data["method"] == "custom":
                heard.append(data["content"])
                self.bytes += len(json.dumps(data, ensure_ascii=False).encode())
        return heard

    def state(self) -> Message:
        return self.hear(lambda message: message["kind"] == "state")[-1]

    def open(self, **view: str) -> None:
        self.say({"kind": "hello", **view})
        assert self.state() == {"kind": "state", "state": "open"}

    def act(self, **action: Any) -> None:
        self.say({"kind": "action", "action": action})

    def events(self, *last: str) -> list[Message]:
        """Events up to and including the first of `last`."""
        heard = self.hear(lambda message: message["kind"] == "event" and message["event"]["event"] in last)
        return [message["event"] for message in heard if message["kind"] == "event"]

    def ask(self, chat_id: str, content: str) -> list[Message]:
        self.act(type="message", chat_id=chat_id, content=content)
        return self.events("done", "error")

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        number = next(self._numbers)
        self.say({"kind": "request", "id": number, "method": method, "path": path, "body": body})
        return self.answer(number)

    def answer(self, number: int | str) -> tuple[int, Any]:
        [*_earlier, found] = self.hear(lambda message: message["kind"] == "answer" and message["id"] == number)
        return found["status"], found["body"]


def text_of(events: list[Message]) -> str:
    return "".join(event["text"] for event in events if event["event"] == "delta")
