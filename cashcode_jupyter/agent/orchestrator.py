"""Who runs when: one turn at a time in a chat, its messages first come first served, different chats side by side.

What arrives while a turn runs waits on disk before it is acknowledged. Stopping ends the running turn only.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from cashcode_jupyter import logs
from cashcode_jupyter.agent.turn import ChatView, Parts, Turn
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.chat import ChatLog, PendingMessage
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.actions import Metadata, parse_metadata
from cashcode_jupyter.protocol.errors import CashCodeError, Conflict, InternalError
from cashcode_jupyter.protocol.events import Error, Event, ModelChoice, Queued, SessionUpdated, Steered

LOG = logs.log("orchestrator")
Reply = Callable[[Event], None]
RENEW_EVERY = 10.0
END_WAIT = 5.0
DESCRIBE_AFTER = 0.02
MAX_WAITING = 100
MAX_VIEWS = 64
TITLE_LENGTH = 40


class ChatRun:
    """One chat while it has something to do: from its first waiting message to the last."""

    def __init__(self, chat_id: str, parts: Parts, sessions: Sessions, view: ChatView) -> None:
        self.chat_id = chat_id
        self.closing = False
        self._ending = False
        self._parts = parts
        self._sessions = sessions
        self._view = view
        self._opened: asyncio.Future[ChatLog] = asyncio.get_running_loop().create_future()
        self._turn: Turn | None = None
        self._quiet = asyncio.Event()
        self._describing: asyncio.Task[None] | None = None

    async def main(self, first: PendingMessage | None, reply: Reply) -> None:
        """Run `first` after what waited from before, then all that arrives meanwhile."""
        try:
            chat = await self._sessions.open(self.chat_id)
        except CashCodeError as error:
            self._refuse(error)
            reply(Error.of(error, chat_id=self.chat_id))
            return
        except asyncio.CancelledError:
            self._refuse(Conflict(_("The chat was just closed; send the message again.")))
            raise
        self._parts.bus.open(self.chat_id, chat.last_seq)
        self._opened.set_result(chat)
        renewal = asyncio.create_task(self._renew(chat))
        try:
            if first is not None and chat.pending:
                await self._wait_in_line(chat, first)
                first = None
            while not self._ending:
                message = first or (chat.pending[0] if chat.pending else None)
                if message is None:
                    break
                first = None
                await self._run_turn(chat, message)
                if message in chat.pending:  # it could not be stored, so it goes on waiting
                    break
        except CashCodeError as error:
            self._parts.bus.publish(self.chat_id, Error.of(error))
        finally:
            self.closing = True
            self._quiet.set()
            renewal.cancel()
            await asyncio.gather(renewal, self._described(), self._sync(chat), return_exceptions=True)
            await self._sessions.release(chat)
            self._parts.bus.close_idle(self.chat_id)

    async def _described(self) -> None:
        if self._describing is not None:
            await self._describing
            self._describing = None

    async def _sync(self, chat: ChatLog) -> None:
        """What was written survives a kill already; now it shall survive a power loss."""
        try:
            await chat.sync()
        except CashCodeError as error:
            self._parts.bus.publish(self.chat_id, Error.of(error))

    def _refuse(self, error: CashCodeError) -> None:
        self.closing = True
        self._opened.set_exception(error)
        self._opened.exception()  # seen here, so that nobody waiting for it is no defect

    async def accept(self, message: PendingMessage) -> None:
        """A message that came while the chat is busy: on disk first, then acknowledged."""
        chat = await asyncio.shield(self._opened)
        if self.closing:
            raise Conflict(_("The chat was just closed; send the message again."))
        await self._wait_in_line(chat, message)

    async def _wait_in_line(self, chat: ChatLog, message: PendingMessage) -> None:
        if len(chat.pending) >= MAX_WAITING:
            raise Conflict(_("{count} messages are waiting in this chat already.").format(count=MAX_WAITING))
        chat.put_pending(message)
        turn_id = self._turn.id if self._turn else None
        if message.kind == "steer":
            self._parts.bus.publish(self.chat_id, Steered(turn_id=turn_id))
        else:
            position = sum(item.kind == "queue" for item in chat.pending)
            self._parts.bus.publish(self.chat_id, Queued(position=position))

    async def _run_turn(self, chat: ChatLog, message: PendingMessage) -> None:
        metadata = parse_metadata(message.metadata)
        try:
            choice = self._parts.models.choose(metadata.llm, chat.llm)
        except CashCodeError as error:
            chat.take_pending(message.message_id)
            self._parts.bus.publish(self.chat_id, Error.of(error))
            return
        await self._described()
        title = self._title(chat, message)
        self._describing = asyncio.create_task(_describe(chat, title, choice, self._quiet))
        self._turn = Turn(self._parts, chat, self._view, message, metadata, choice)
        try:
            await self._turn.run()
        finally:
            self._turn = None

    def _title(self, chat: ChatLog, message: PendingMessage) -> str | None:
        """The title of a chat's first message, as in the seed: its first 40 characters, spaces collapsed."""
        if chat.title:
            return None
        title = " ".join(message.content.split())[:TITLE_LENGTH]
        self._parts.bus.publish(self.chat_id, SessionUpdated(title=title, updated_at=logs.now()))
        return title

    def stop(self) -> None:
        """End the running turn; the next waiting message runs."""
        if self._turn is not None:
            self._turn.stop()

    def end(self, task: asyncio.Task[None]) -> None:
        """End the running turn and run nothing more; what waits stays on disk."""
        self._ending = True
        if self._turn is not None:
            self._turn.stop()
        elif not self.closing:
            task.cancel()

    async def _renew(self, chat: ChatLog) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY)
            try:
                await asyncio.to_thread(chat.renew)
            except CashCodeError as error:
                if self._turn is not None:
                    self._turn.stop(error)
                return


async def _describe(chat: ChatLog, title: str | None, choice: ModelChoice, quiet: asyncio.Event) -> None:
    """Write title and model down, but let the model's request go first: this one is in no hurry."""
    try:
        async with asyncio.timeout(DESCRIBE_AFTER):
            await quiet.wait()
    except TimeoutError:
        pass
    try:
        if title:
            await asyncio.to_thread(chat.set_title, title)
        if choice != chat.llm:
            await asyncio.to_thread(chat.set_llm, choice)
    except CashCodeError as error:
        logs.event(LOG, logging.WARNING, "chat.not_described", code=error.code)


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
        return run is not None and not run.closing

    async def submit(
        self, chat_id: str, content: str, metadata: Metadata, reply: Reply, *, steer: bool = False
    ) -> None:
        """A message (or a steer) of the user. Raises `CashCodeError` when it is not accepted."""
        message = PendingMessage(
            message_id=uuid4().hex,
            content=content,
            metadata=metadata.model_dump(mode="json", exclude_none=True),
            kind="steer" if steer else "queue",
        )
        while True:
            run = self._runs.get(chat_id)
            if run is None:
                self._start(chat_id, replace(message, kind="queue"), reply)
                return
            if not run.closing:
                await run.accept(message)
                return
            await asyncio.wait([self._tasks[chat_id]])

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
                error = InternalError(_("CashCode made a mistake; the log has the details."))
                reply(Error.of(error, chat_id=run.chat_id))
            finally:
                del self._runs[run.chat_id], self._tasks[run.chat_id]

    def _view(self, chat_id: str) -> ChatView:
        view = self._views.setdefault(chat_id, ChatView())
        self._views.move_to_end(chat_id)
        while len(self._views) > MAX_VIEWS:
            self._views.popitem(last=False)
        return view
