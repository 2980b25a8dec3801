"""Who runs when: one turn at a time in a chat, its messages first come first served, different chats side by side.

Stopping ends the running turn only; what waits behind it runs next.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import replace
from uuid import uuid4

from cashcode_jupyter import logs
from cashcode_jupyter.agent.chat_run import ChatRun, Reply
from cashcode_jupyter.agent.parts import ChatView, Parts
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.chat import PendingMessage
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.actions import Metadata
from cashcode_jupyter.protocol.errors import Conflict, InternalError
from cashcode_jupyter.protocol.events import Error

LOG = logs.log("orchestrator")
END_WAIT = 5.0
MAX_VIEWS = 64


class Orchestrator:
    """All chats of this process that have something to do. Owns their tasks; `aclose` ends them."""

    def __init__(self, parts: Parts, sessions: Sessions) -> None:
        self._parts = parts
        self._sessions = sessions
        self._runs: dict[str, ChatRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._views: OrderedDict[str, ChatView] = OrderedDict()
        self._closed = False

    def running(self, chat_id: str) -> bool:
        run = self._runs.get(chat_id)
        return run is not None and not run.closing and not run.idle

    async def submit(
        self, chat_id: str, content: str, metadata: Metadata, reply: Reply, *, steer: bool = False
    ) -> None:
        """A message (or a steer) of the user. Raises `CashCodeError` when it is not accepted."""
        message = PendingMessage(
            message_id=uuid4().hex,
            content=content,
            metadata=metadata.model_dump(mode="json", exclude_defaults=True),
            kind="steer" if steer else "queue",
        )
        while True:
            run = self._runs.get(chat_id)
            if run is None:
                self._start(chat_id, replace(message, kind="queue"), reply)
                return
            if not run.closing and await run.accept(message):
                return
            if task := self._tasks.get(chat_id):
                await asyncio.wait([task])

    def resume(self, chat_id: str, reply: Reply) -> None:
        """Go on with messages that waited when the last process ended."""
        if chat_id not in self._runs:
            self._start(chat_id, None, reply)

    def cancel(self, chat_id: str) -> None:
        """Stop the running turn; what waits behind it runs next."""
        if run := self._runs.get(chat_id):
            run.stop()

    async def end_chat(self, chat_id: str) -> None:
        """Stop everything of a chat and wait until it is quiet."""
        self._views.pop(chat_id, None)
        if run := self._runs.get(chat_id):
            await self._end([run])

    async def aclose(self) -> None:
        """End all turns; they are closed on disk as stopped, and nothing new starts."""
        self._closed = True
        if self._runs:
            await self._end(list(self._runs.values()))

    async def _end(self, runs: list[ChatRun]) -> None:
        tasks = [self._tasks[run.chat_id] for run in runs]
        for run, task in zip(runs, tasks, strict=True):
            run.end(task)
        _done, late = await asyncio.wait(tasks, timeout=END_WAIT)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def _start(self, chat_id: str, message: PendingMessage | None, reply: Reply) -> None:
        if self._closed:
            raise Conflict(_("CashCode is shutting down."))
        run = ChatRun(chat_id, self._parts, self._sessions, self._view(chat_id))
        self._runs[chat_id] = run
        self._tasks[chat_id] = asyncio.create_task(self._main(run, message, reply), name=f"chat {chat_id}")

    async def _main(self, run: ChatRun, message: PendingMessage | None, reply: Reply) -> None:
        with logs.ids(chat_id=run.chat_id):
            try:
                await run.main(message, reply)
            except asyncio.CancelledError:
                logs.event(LOG, logging.DEBUG, "chat.stopped")
            except Exception:
                LOG.exception("chat.crashed")
                reply(Error.of(InternalError(), chat_id=run.chat_id))
            finally:
                del self._runs[run.chat_id], self._tasks[run.chat_id]

    def _view(self, chat_id: str) -> ChatView:
        view = self._views.setdefault(chat_id, ChatView())
        self._views.move_to_end(chat_id)
        while len(self._views) > MAX_VIEWS:
            self._views.popitem(last=False)
        return view
