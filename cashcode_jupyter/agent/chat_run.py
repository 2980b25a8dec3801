"""One chat while it has something to do: its turns one after the other, and what arrives meanwhile.

A message that comes while a turn runs is on disk before it is acknowledged. After its last turn the chat stays open
for a moment, so that a program's next question finds it ready.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from cashcode_jupyter import logs
from cashcode_jupyter.agent.attached import has_pictures, keep_pictures
from cashcode_jupyter.agent.parts import ChatView, Parts
from cashcode_jupyter.agent.turn import Turn
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.chat import ChatLog, PendingMessage
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.actions import parse_metadata
from cashcode_jupyter.protocol.errors import CashCodeError, Conflict, InternalError
from cashcode_jupyter.protocol.events import Error, Event, ModelChoice, Queued, Steered

LOG = logs.log("chat")
Reply = Callable[[Event], None]
LINGER = 0.3
RENEW_EVERY = 10.0
DESCRIBE_AFTER = 0.5
MAX_WAITING = 100
TITLE_LENGTH = 40


class ChatRun:
    """From the first message to the moment after the last turn.

    `idle`: open, but no turn runs and nothing waits. `closing`: nothing is taken any more.
    """

    def __init__(self, chat_id: str, parts: Parts, sessions: Sessions, view: ChatView) -> None:
        self.chat_id = chat_id
        self.idle = False
        self.closing = False
        self._ending = False
        self._stop_early = False
        self._parts = parts
        self._sessions = sessions
        self._view = view
        self._opened: asyncio.Future[ChatLog] = asyncio.get_running_loop().create_future()
        self._turn: Turn | None = None
        self._handed: PendingMessage | None = None
        self._woken = asyncio.Event()
        self._describing: asyncio.Task[None] | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def main(self, first: PendingMessage | None, reply: Reply) -> None:
        """Run `first` after what waited from before, then all that arrives meanwhile."""
        try:
            chat = await self._sessions.open(self.chat_id)
        except CashCodeError as error:
            self._refuse(error)
            ref = first.metadata.get("ref") if first else None
            reply(Error.of(error, chat_id=self.chat_id, ref=ref))
            return
        except asyncio.CancelledError:
            self._refuse(Conflict(_("The chat was just closed; send the message again.")))
            raise
        except Exception:
            self._refuse(InternalError())  # whoever waits for the chat must not wait for ever
            raise
        self._parts.bus.open(self.chat_id, chat.last_seq)
        self._opened.set_result(chat)
        self._later("renew", RENEW_EVERY, lambda: self._start_renewing(chat))
        try:
            await self._run_all(chat, first)
        except CashCodeError as error:
            self._parts.bus.publish(self.chat_id, Error.of(error))
        finally:
            self.closing = True
            await self._close(chat)
            self._parts.bus.close_idle(self.chat_id)

    async def accept(self, message: PendingMessage) -> bool:
        """Take a message while the chat is open; False when it is closing, so that a new run must take it."""
        chat = await asyncio.shield(self._opened)
        if not (self.closing or self._ending or self.idle):
            message = await self._with_pictures_kept(chat, message)
        if self.closing or self._ending:
            return False
        if self.idle:
            self.idle = False
            self._handed = message
            self._woken.set()
        else:
            self._wait_in_line(chat, message)
        return True

    def stop(self) -> None:
        """End the running turn, or the one that is about to begin; the next waiting message runs."""
        if self._turn is not None:
            self._turn.stop()
        else:
            self._stop_early = not self.idle

    def end(self, task: asyncio.Task[None]) -> None:
        """End the running turn and run nothing more; what waits stays on disk."""
        self._ending = True
        self._woken.set()
        if self._turn is not None:
            self._turn.stop()
        elif not self._opened.done():
            task.cancel()

    async def _run_all(self, chat: ChatLog, first: PendingMessage | None) -> None:
        if first is not None and chat.pending:
            self._wait_in_line(chat, await self._with_pictures_kept(chat, first))
            first = None
        while not self._ending:
            message = first or (chat.pending[0] if chat.pending else await self._next(chat))
            if message is None:
                return
            first = None
            await self._run_turn(chat, message)
            if message in chat.pending:  # it could not be stored, so it goes on waiting
                return

    async def _next(self, chat: ChatLog) -> PendingMessage | None:
        """Nothing waits: stay open for a moment, and give the disk no work that would be in the way."""
        self.idle = True
        try:
            async with asyncio.timeout(LINGER):
                await self._woken.wait()
        except TimeoutError:
            pass
        message, self._handed = self._handed, None
        self.idle = False
        self._woken.clear()
        if message is None:
            self.closing = True
        return message

    async def _with_pictures_kept(self, chat: ChatLog, message: PendingMessage) -> PendingMessage:
        """The message with its pictures on the disk, so that whatever names them is written after them."""
        if not has_pictures(message):
            return message
        return await asyncio.to_thread(keep_pictures, message, chat.attachments)

    def _wait_in_line(self, chat: ChatLog, message: PendingMessage) -> None:
        if len(chat.pending) >= MAX_WAITING:
            raise Conflict(
                _("The queue of this chat is full (messages: {count}). Wait until some are answered.").format(
                    count=MAX_WAITING
                )
            )
        chat.put_pending(message)
        if message.kind == "steer":
            self._parts.bus.publish(self.chat_id, Steered(turn_id=self._turn.id if self._turn else None))
        else:
            position = sum(item.kind == "queue" for item in chat.pending)
            self._parts.bus.publish(self.chat_id, Queued(position=position, ref=message.metadata.get("ref")))

    async def _run_turn(self, chat: ChatLog, message: PendingMessage) -> None:
        pictures = has_pictures(message)
        # With pictures in it the context is long; it is read again when they are on the disk.
        metadata = parse_metadata({**message.metadata, "context": None} if pictures else message.metadata)
        try:
            choice = self._parts.models.choose(metadata.llm, chat.llm)
            if pictures:
                message = await self._with_pictures_kept(chat, message)
                metadata = parse_metadata(message.metadata)
        except CashCodeError as error:
            chat.take_pending(message.message_id)
            self._parts.bus.publish(self.chat_id, Error.of(error, ref=metadata.ref))
            return
        stop_early, self._stop_early = self._stop_early or self._ending, False
        title = self._describe(chat, message, choice)
        self._turn = Turn(self._parts, chat, self._view, message, metadata, choice, title)
        if stop_early:
            asyncio.get_running_loop().call_soon(self._turn.stop)
        try:
            await self._turn.run()
        finally:
            self._turn = None

    def _describe(self, chat: ChatLog, message: PendingMessage, choice: ModelChoice) -> str | None:
        """Keep the chat's model and, at its first message, a title of 40 characters; gives a title that is new."""
        title = None if chat.title else " ".join(message.content.split())[:TITLE_LENGTH]
        chat.describe(title, choice)
        if self._describing is None and not chat.described:
            self._later("describe", DESCRIBE_AFTER, lambda: self._start_describing(chat))
        return title

    def _later(self, name: str, seconds: float, start: Callable[[], None]) -> None:
        """Start something that is in no hurry; a turn's first word does not pay for it."""
        if name not in self._timers:
            self._timers[name] = asyncio.get_running_loop().call_later(seconds, start)

    def _start_describing(self, chat: ChatLog) -> None:
        self._describing = asyncio.create_task(self._write_description(chat))

    async def _write_description(self, chat: ChatLog) -> None:
        """For a turn that takes its time; after a quick one it is written when the chat is closed."""
        try:
            await asyncio.to_thread(chat.write_description)
        except CashCodeError as error:
            logs.event(LOG, logging.WARNING, "chat.not_described", code=error.code)

    def _start_renewing(self, chat: ChatLog) -> None:
        self._renewing = asyncio.create_task(self._renew(chat))

    async def _renew(self, chat: ChatLog) -> None:
        while True:
            try:
                await asyncio.to_thread(chat.renew)
            except CashCodeError as error:
                if self._turn is not None:
                    self._turn.stop(error)
                return
            await asyncio.sleep(RENEW_EVERY)

    async def _close(self, chat: ChatLog) -> None:
        """What was written survives a kill already; now it shall survive a power loss."""
        for timer in self._timers.values():
            timer.cancel()
        if self._renewing is not None:
            self._renewing.cancel()
        tasks = [task for task in (self._renewing, self._describing) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._sessions.settle(chat)
        except CashCodeError as error:
            self._parts.bus.publish(self.chat_id, Error.of(error))

    def _refuse(self, error: CashCodeError) -> None:
        self.closing = True
        self._opened.set_exception(error)
        self._opened.exception()  # seen here, so that nobody waiting for it is no defect
