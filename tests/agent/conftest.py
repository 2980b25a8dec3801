"""A core with the scripted model behind it, and a door that reads its frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from cashcode_jupyter.agent.client import Client
from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.testing.fixtures import CashcodeHome


@dataclass
class Door:
    """One connection with everything it has heard so far."""

    client: Client
    heard: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._frames = self.client.frames()

    async def send(self, type: str, **fields: Any) -> None:
        await self.client.send(json.dumps({"type": type, **fields}))

    async def until(self, wanted: str | Callable[[dict], bool], timeout: float = 20.0) -> list[dict]:
        """Listen until an event of this name (or that fits) came; gives what was heard since the call."""
        fits = (lambda event: event["event"] == wanted) if isinstance(wanted, str) else wanted
        start = len(self.heard)
        async with asyncio.timeout(timeout):
            while True:
                self.heard.append(json.loads(await anext(self._frames)))
                if fits(self.heard[-1]):
                    return self.heard[start:]

    async def ask(self, content: str, chat_id: str = "chat", **metadata: Any) -> list[dict]:
        """A whole turn: its events up to `done` or `error`."""
        await self.send("message", chat_id=chat_id, content=content, metadata=metadata)
        return await self.until(lambda event: event["event"] in ("done", "error"))


def text_of(events: list[dict]) -> str:
    return "".join(event["text"] for event in events if event["event"] == "delta")


def names(events: list[dict]) -> list[str]:
    """The names of the events, runs of deltas as one."""
    found: list[str] = []
    for event in events:
        if not (found and found[-1] == event["event"] in ("delta", "reasoning")):
            found.append(event["event"])
    return found


@pytest.fixture
async def core(cashcode_home: CashcodeHome) -> AsyncIterator[CashCode]:
    core = CashCode(Settings.load(), console=False)
    await core.start()
    yield core
    await core.stop()


@pytest.fixture
async def door(core: CashCode) -> AsyncIterator[Door]:
    door = Door(core.connect())
    await door.until("ready")
    yield door
    await door.client.aclose()
