"""Standard input as lines, without blocking the loop and without an unbounded line or queue."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Iterator

MAX_LINE = 1 << 20
BLOCK = 65536
WAITING_LINES = 64


class Splitter:
    """Bytes in, whole lines out. A line over `limit` gives one None in its place."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._hold(part)
            yield self._take()
        self._hold(rest)

    def end(self) -> Iterator[bytes | None]:
        """The last line, which need not end with a newline."""
        if self._held or self._skipping:
            yield self._take()

    def _hold(self, part: bytes) -> None:
        if len(self._held) + len(part) > self._limit:
            self._held.clear()
            self._skipping = True
        if not self._skipping:
            self._held += part

    def _take(self) -> bytes | None:
        line = None if self._skipping else bytes(self._held)
        self._held.clear()
        self._skipping = False
        return line


async def lines(fd: int = 0) -> AsyncGenerator[bytes | None]:
    """The lines of `fd` until its end; None for one that is too long.

    Read by a daemon thread with `os.read`: a thread that waits in `sys.stdin` would hold a lock that Python wants
    at its end, and not every standard input can be watched by a loop.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue(WAITING_LINES)
    closed = False

    def put(item: bytes | EOFError | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        splitter = Splitter()
        try:
            while not closed and (data := os.read(fd, BLOCK)):
                for line in splitter.feed(data):
                    put(line)
            for line in splitter.end():
                put(line)
        except OSError:
            put(EOFError())  # a terminal that went away is an end like any other
        except RuntimeError:
            return  # the loop is gone, nobody reads
        else:
            put(EOFError())

    threading.Thread(target=read, name="cashcode-stdin", daemon=True).start()
    try:
        while not isinstance(item := await queue.get(), EOFError):
            yield item
    finally:
        closed = True
