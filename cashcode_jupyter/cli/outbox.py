"""Lines on their way to standard output: written in a thread and in batches, so that a slow reader of ours does
not make us a slow reader of the core. What waits is bounded; beyond that `put` waits too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

MAX_WAITING = 32 << 20


class Outbox:
    """`run` writes what `put` gives, until `close` was called and all is written; it raises what writing raises."""

    def __init__(self, write: Callable[[bytes], None], limit: int = MAX_WAITING) -> None:
        self._write = write
        self._limit = limit
        self._waiting: list[bytes] = []
        self._size = 0
        self._closed = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    async def put(self, line: bytes) -> None:
        while self._size > self._limit:
            self._room.clear()
            await self._room.wait()
        self._waiting.append(line + b"\n")
        self._size += len(line) + 1
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def run(self) -> None:
        while not self._closed or self._waiting:
            await self._news.wait()
            self._news.clear()
            batch, self._waiting = b"".join(self._waiting), []
            if batch:
                await asyncio.to_thread(self._write, batch)
                self._size -= len(batch)
                self._room.set()
