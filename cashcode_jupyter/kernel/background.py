"""The one event loop of ours in a kernel, on one daemon thread: made at first use, ended at exit.

Turns run here and never on the kernel's own loop, which a running cell blocks and where an interrupt acts late.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
CLOSE_SECONDS = 5.0


class _AtOnce(ThreadPoolExecutor):
    """Does the work where it is submitted: at exit Python starts no more threads."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - whoever waits for the future gets it
            future.set_exception(error)
        return future


class Background:
    """A loop on a thread, and the work that was given to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` on the loop; cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(self._tracked(work), self._running())

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the loop soon, in the order of these calls."""
        self._running().call_soon_threadsafe(function, *args)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the loop and wait for it here; an interrupt cancels it."""
        future = self.submit(work)
        try:
            while True:
                # A wait without end cannot be interrupted on Windows.
                with suppress(TimeoutError):
                    return future.result(0.2)
                if future.done():
                    return future.result()
        except BaseException:
            future.cancel()
            raise

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Await `closer` before the loop ends, those added last first."""
        self._closers.append(closer)

    def close(self) -> None:
        """Cancel the work, await the closers (five seconds at most) and end the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        ending = asyncio.run_coroutine_threadsafe(self._wind_down(), loop)
        with suppress(TimeoutError):
            ending.result(CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(1.0)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), daemon=True, name="cashcode"
                )
                self._thread.start()
                atexit.register(self.close)
            return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.close()

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)

    async def _wind_down(self) -> None:
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        asyncio.get_running_loop().set_default_executor(_AtOnce())
        for closer in reversed(self._closers):
            await closer()
