"""SIGINT and SIGTERM as something a coroutine can wait for, so that a turn can be ended properly."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Stop:
    """Set by the first signal. The second one ends the process the way it would have ended without us."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.signal: int | None = None

    async def wait(self) -> None:
        await self._event.wait()

    @property
    def status(self) -> int:
        """The exit status that a shell gives for the signal."""
        return 128 + (self.signal or signal.SIGINT)

    def set(self, number: int) -> None:
        self.signal = number
        self._event.set()


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Inside, in the main thread, the first SIGINT or SIGTERM sets the `Stop`."""
    stop = Stop()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before: dict[int, Any] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(stop.set, number)

    try:
        for number in numbers:
            before[number] = signal.signal(number, handle)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
