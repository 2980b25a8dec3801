"""The client side of a chat: a WebSocket to the server, or the core in this process; both speak the same frames."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.server import Server

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode

MAX_FRAME = 256 << 20
ENDS = ("done", "error")


@dataclass
class Seen:
    """A turn as its client saw it; times are seconds since the message was sent."""

    first_delta: float = 0.0
    seconds: float = 0.0
    deltas: int = 0
    text: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]


class TurnFailed(RuntimeError):
    """A turn of a benchmark ended with an error; what it measured means nothing."""


class Chat:
    """One connection. `read` gives the next frame, `write` sends one."""

    def __init__(
        self, read: Callable[[], Awaitable[str | bytes]], write: Callable[[str], Awaitable[Any]], chat_id: str
    ) -> None:
        self._read = read
        self._write = write
        self.chat_id = chat_id

    async def send(self, **action: Any) -> None:
        await self._write(json.dumps(action))

    async def next(self) -> dict[str, Any]:
        return json.loads(await self._read())

    async def until(self, *kinds: str) -> dict[str, Any]:
        """The next event of one of these kinds; others are dropped."""
        while (event := await self.next())["event"] not in kinds:
            pass
        return event

    async def new(self) -> str:
        """A new chat id for this connection."""
        await self.send(type="new_chat")
        self.chat_id = (await self.until("attached"))["chat_id"]
        return self.chat_id

    async def attach(self, chat_id: str) -> None:
        """Go on in a chat that exists."""
        await self.send(type="attach", chat_id=chat_id)
        await self.until("attached")
        self.chat_id = chat_id

    async def first_delta(self, content: str) -> float:
        """Seconds to the first piece of an answer, which is then stopped."""
        started = time.perf_counter()
        await self.send(type="message", chat_id=self.chat_id, content=content)
        await self.until("delta")
        took = time.perf_counter() - started
        await self.send(type="cancel", chat_id=self.chat_id)
        await self.until("done")
        return took

    async def ask(self, content: str) -> Seen:
        """One turn in the chat at hand, to its end. Raises `TurnFailed` when that is an error."""
        seen = Seen()
        pieces: list[str] = []
        frame = json.dumps({"type": "message", "chat_id": self.chat_id, "content": content})
        started = time.perf_counter()
        await self._write(frame)
        while True:
            raw = await self._read()
            event = json.loads(raw)
            kind = event["event"]
            if kind == "delta":
                seen.first_delta = seen.first_delta or time.perf_counter() - started
                seen.deltas += 1
                pieces.append(event["text"])
                continue
            seen.events.append(event)
            if kind in ENDS:
                break
        seen.seconds = time.perf_counter() - started
        seen.text = "".join(pieces)
        if kind == "error":
            raise TurnFailed(f"{event['code']}: {event['detail']}")
        return seen


@asynccontextmanager
async def socket(server: Server) -> AsyncIterator[Chat]:
    """A chat over a real WebSocket, which is closed with the block."""
    connection = await websocket_connect(HTTPRequest(server.socket_url), max_message_size=MAX_FRAME)

    async def read() -> str | bytes:
        frame = await connection.read_message()
        if frame is None:
            raise ConnectionError(f"the server closed the socket: {connection.close_code}")
        return frame

    try:
        ready = json.loads(await read())
        if ready["event"] != "ready":
            raise TurnFailed(f"{ready.get('code')}: {ready.get('detail')}")
        yield Chat(read, connection.write_message, ready["chat_id"])
    finally:
        connection.close()


@asynccontextmanager
async def connection(core: CashCode) -> AsyncIterator[Chat]:
    """A chat with a core of this process."""
    client = core.connect()
    frames = aiter(client.frames())

    async def read() -> bytes:
        return await anext(frames)

    try:
        yield Chat(read, client.send, json.loads(await read())["chat_id"])
    finally:
        await client.aclose()
