"""The beginning of a turn: its message in the history, then the word to everybody that it began.

Storing and telling take about as long as sending the request, so they happen one step of the loop after it, while
the model begins to think, and before anything else of the turn is stored or told. No byte of an answer can be read
before that step.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from cashcode_jupyter import logs
from cashcode_jupyter.agent.attached import receipts
from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.memory.chat import ChatLog, PendingMessage
from cashcode_jupyter.protocol.actions import Metadata
from cashcode_jupyter.protocol.errors import CashCodeError, InternalError
from cashcode_jupyter.protocol.events import ModelChoice, SessionUpdated, TurnStarted

LOG = logs.log("turn")
LOG_AFTER = 0.05


class Beginning:
    """Of one turn; `finish` may be called as often as anybody needs it to be done."""

    def __init__(self, bus: Bus, chat: ChatLog, message: PendingMessage, metadata: Metadata, turn_id: str) -> None:
        self._bus = bus
        self._chat = chat
        self._message = message
        self._metadata = metadata
        self._turn_id = turn_id
        self._rest: Callable[[], None] | None = None
        self._choice: ModelChoice | None = None
        self._logged = False

    def start(
        self,
        choice: ModelChoice,
        title: str | None,
        model_content: str | None,
        *,
        on_failure: Callable[[CashCodeError], None],
    ) -> None:
        """Add the message to what the model sees; the rest comes with `finish`, at the latest two steps from now.

        `title`: a new one, to be told. `on_failure` hears why the message could not be stored.
        """
        message, chat = self._message, self._chat
        self._choice = choice
        store = chat.add_user(
            message.content,
            turn_id=self._turn_id,
            message_id=message.message_id,
            model_content=model_content,
            extra=receipts(self._metadata),
        )

        def rest() -> None:
            cursor = store()
            chat.take_pending(message.message_id)
            if title:
                self._bus.publish(chat.chat_id, SessionUpdated(title=title, updated_at=logs.now()))
            self._bus.publish(
                chat.chat_id,
                TurnStarted(turn_id=self._turn_id, llm=choice, user_cursor=cursor, ref=self._metadata.ref),
            )
            loop.call_later(LOG_AFTER, self.log)

        def finish_or_tell() -> None:
            try:
                self.finish()
            except CashCodeError as error:
                on_failure(error)
            except Exception:
                LOG.exception("turn.crashed")
                on_failure(InternalError())

        self._rest = rest
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, finish_or_tell)

    def finish(self) -> None:
        """Store and tell now, if it is not done; raises `StorageError` or `ReadOnly`, once."""
        rest, self._rest = self._rest, None
        if rest is not None:
            rest()

    def log(self) -> None:
        """Once, and in no hurry: a first word does not pay for a line of the log."""
        if self._choice is not None and not self._logged:
            self._logged = True
            facts = {"provider": self._choice.provider, "model": self._choice.model}
            with logs.ids(chat_id=self._chat.chat_id, turn_id=self._turn_id):
                logs.event(LOG, logging.INFO, "turn.started", **facts)
