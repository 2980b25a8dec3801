"""A panel's requests over the kernel's socket: `{type: request, id, method, path, body?}` in, `{event: answer, id,
status, body}` out, so that a panel in a cell needs no login of its own.

The kernel's secret opens the routes that panels use and no others. A request ends with its socket.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.resources.answer import Answer, answer, problem
from cashcode_jupyter.resources.request import CoreSource

MAX_RUNNING = 32
REQUEST, CANCEL = "request", "request_cancel"


class TooMany(CashCodeError):
    code, status, retryable = "internal", 503, True


class KernelRequests:
    """The requests of one socket; `reply` writes a frame to it."""

    def __init__(self, core: CoreSource, reply: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self._core = core
        self._reply = reply
        self._running: dict[int, asyncio.Task[None]] = {}

    def take(self, frame: str | bytes) -> bool:
        """Whether the frame is a request (or the end of one), which is then under way."""
        if isinstance(frame, bytes) or f'"{REQUEST}' not in frame:
            return False
        try:
            value = json.loads(frame)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict) or value.get("type") not in (REQUEST, CANCEL):
            return False
        number = value.get("id")
        if type(number) is not int:
            return False
        if value["type"] == CANCEL:
            if task := self._running.get(number):
                task.cancel()
        elif number not in self._running:
            task = asyncio.create_task(self._run(number, value), name="cashcode: kernel request")
            self._running[number] = task
            task.add_done_callback(lambda _task: self._running.pop(number, None))
        return True

    def close(self) -> None:
        for task in list(self._running.values()):
            task.cancel()

    async def _run(self, number: int, frame: dict[str, Any]) -> None:
        if len(self._running) > MAX_RUNNING:
            error = TooMany(_("Too many requests are under way; try again in a moment."))
            found = Answer.failed(problem(error, error.status))
        else:
            method, path = str(frame.get("method")), str(frame.get("path"))
            found = await answer(self._core, method, path, frame.get("body"))
        await self._reply({"event": "answer", "id": number, "status": found.status, "body": found.body})
