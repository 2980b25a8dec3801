"""One door's connection to the core: frames go in with `send`, come out of `frames`.

A WebSocket, a kernel and the command line use the same class. Nothing that a client sends raises: what is wrong
with it comes back as an `error` event.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Protocol
from uuid import uuid4

from cashcode_jupyter import logs
from cashcode_jupyter.agent.attached import pictures_again
from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.agent.orchestrator import Orchestrator
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.actions import (
    Action,
    Approval,
    Attach,
    Cancel,
    Message,
    Metadata,
    NewChat,
    Ping,
    Rejection,
    Retry,
    Steer,
    parse_action,
)
from cashcode_jupyter.protocol.errors import CashCodeError, InternalError, NotFound
from cashcode_jupyter.protocol.events import ApprovalRequest, Attached, Error, Event, Pong, Ready, StopAck
from cashcode_jupyter.tools.questions import Questions

LOG = logs.log("client")


class Core(Protocol):
    """What a client needs of the application."""

    bus: Bus
    orchestrator: Orchestrator
    sessions: Sessions
    questions: Questions

    def open_questions(self, chat_id: str) -> list[ApprovalRequest]: ...


class Client:
    """A connection with a chat of its own (`chat_id`) and any number of others that it attaches to."""

    def __init__(self, core: Core) -> None:
        self.client_id = f"client-{uuid4().hex[:12]}"
        self.chat_id = str(uuid4())
        self._core = core
        self._subscription = core.bus.subscribe()
        self._subscription.watch(self.chat_id)
        self._subscription.reply(Ready(chat_id=self.chat_id, client_id=self.client_id))

    def frames(self) -> AsyncIterator[bytes]:
        """JSON objects as UTF-8, the first is `ready`; raises `SlowReader` when the reader is too slow."""
        return self._subscription.frames()

    async def send(self, frame: str | bytes | Action) -> None:
        """Act on one frame. Returns once it is accepted, not when its turn is over."""
        chat_id = action = None
        try:
            action = frame if isinstance(frame, Action) else parse_action(frame)
            chat_id = getattr(action, "chat_id", None)
            with logs.ids(chat_id=chat_id):
                await self._act(action)
        except Rejection as rejection:
            logs.event(LOG, logging.INFO, "frame.rejected", code=rejection.error.code)
            self._reply(Error.of(rejection.error, chat_id=rejection.chat_id))
        except CashCodeError as error:
            ref = action.metadata.ref if isinstance(action, Message) else None
            self._reply(Error.of(error, chat_id=chat_id, ref=ref))
        except Exception:
            LOG.exception("frame.crashed")
            self._reply(Error.of(InternalError(), chat_id=chat_id))

    async def aclose(self) -> None:
        """Detach. Turns that run go on; whoever attaches again sees them."""
        self._subscription.close()

    def _reply(self, event: Event) -> None:
        self._subscription.reply(event)

    async def _act(self, action: Action) -> None:
        core = self._core
        match action:
            case Ping():
                self._reply(Pong())
            case NewChat():
                chat_id = str(uuid4())
                self._subscription.watch(chat_id)
                self._reply(Attached(chat_id=chat_id))
            case Attach():
                await self._attach(action)
            case Message():
                self._subscription.watch(action.chat_id)
                await core.orchestrator.submit(action.chat_id, action.content, action.metadata, self._reply)
            case Steer():
                self._subscription.watch(action.chat_id)
                await core.orchestrator.submit(action.chat_id, action.content, Metadata(), self._reply, steer=True)
            case Cancel():
                self._reply(StopAck(chat_id=action.chat_id))
                core.orchestrator.cancel(action.chat_id)
            case Approval():
                self._subscription.watch(action.chat_id)
                if not core.questions.answer(action.chat_id, action.call_id, action.decision, action.scope):
                    raise NotFound(_("This approval is not (or no longer) pending."))
            case Retry():
                await self._retry(action)

    async def _attach(self, action: Attach) -> None:
        chat_id = action.chat_id
        peek = await self._core.sessions.peek(chat_id)
        journal = self._core.bus.journal(chat_id)  # now, because a turn may have begun meanwhile
        self._reply(
            Attached(
                chat_id=chat_id,
                running=self._core.orchestrator.running(chat_id),
                last_seq=journal.seq if journal else peek.last_seq,
                title=peek.title,
            )
        )
        position = None
        if journal is not None and action.after_seq is not None:
            position = journal.replay_position(action.after_seq)
        else:
            for question in self._core.open_questions(chat_id):
                self._reply(question)
        self._subscription.watch(chat_id, position)
        if peek.waiting:
            self._core.orchestrator.resume(chat_id, self._reply)

    async def _retry(self, action: Retry) -> None:
        """A new chat that shares the history before the message, and the turn in it with the same pictures."""
        sessions = self._core.sessions
        chat_id = str(uuid4())
        content = action.content
        found = await sessions.messages(action.chat_id, before=action.from_cursor + 1, limit=1)
        message = found[-1] if found else {}
        if content is None or not content.strip():
            content = message.get("content", "")
        await sessions.branch(action.chat_id, action.from_cursor, chat_id)
        peek = await sessions.peek(chat_id)
        self._subscription.watch(chat_id)
        self._reply(Attached(chat_id=chat_id, running=True, title=peek.title))
        metadata = Metadata(context=tuple(pictures_again(message.get("context"))))
        await self._core.orchestrator.submit(chat_id, content, metadata, self._reply)
