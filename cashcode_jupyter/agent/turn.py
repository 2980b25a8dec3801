"""One turn: ask the model, run the tools it wants, and again, until it answers, is stopped or spends its budget.

The order on disk is the promise: the user's message before the model's first byte and before anybody is told of
it, each round's calls before they run, their results before the next request, and a closing record at the end.
Whatever ends a turn, it ends whole.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import uuid4

from cashcode_jupyter import logs
from cashcode_jupyter.agent import prompt
from cashcode_jupyter.agent.attached import refuse_what_is_not_there
from cashcode_jupyter.agent.beginning import Beginning
from cashcode_jupyter.agent.parts import ChatView, Parts
from cashcode_jupyter.agent.pictures import Gallery, gallery_of
from cashcode_jupyter.agent.round import ToolRound
from cashcode_jupyter.agent.speech import Speech
from cashcode_jupyter.agent.tally import Tally, as_message
from cashcode_jupyter.agent.window import estimate_tokens, first_shown
from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.client import Completion, ModelRequest
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.llm.vision import cannot_see
from cashcode_jupyter.memory.chat import ChatLog, PendingMessage
from cashcode_jupyter.protocol.actions import Metadata
from cashcode_jupyter.protocol.errors import (
    CashCodeError,
    InternalError,
    LlmContentFilter,
    LlmError,
)
from cashcode_jupyter.protocol.events import (
    Event,
    ModelChoice,
    Retrying,
    StopReason,
)

LOG = logs.log("turn")
WINDOW_WAIT = 2.0


@dataclass
class Turn:
    """One run of one chat. `run` never raises; how it ended is in the events and in the closing record.

    `title` is the chat's new title, to be told, when this is its first turn.
    """

    parts: Parts
    chat: ChatLog
    view: ChatView
    message: PendingMessage
    metadata: Metadata
    choice: ModelChoice
    title: str | None = None
    id: str = field(default_factory=lambda: uuid4().hex[:12])

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._tally = Tally()
        self._gallery: dict[str, bytes] = {}
        self._failure: CashCodeError | None = None
        self._ending = False
        self._task: asyncio.Task[Any] | None = None
        self.parts.learn_secrets()
        self._journal = self.parts.bus.open(self.chat.chat_id, self.chat.last_seq)
        self._beginning: Beginning | None = None
        self._speech = Speech(
            self.parts.bus, self.chat.chat_id, self.id, self.parts.redactor, before=self._announced
        )
        self._round = ToolRound(
            self.parts.bus,
            self.parts.tools,
            self.chat,
            self._speech,
            self.parts.redactor,
            self.parts.workspace,
        )
        self.view.follow(self.chat)

    def stop(self, failure: CashCodeError | None = None) -> None:
        """End the turn now: as cancelled, or as failed when the reason is an error. Once is enough."""
        if self._task is not None and not self._ending:
            self._ending, self._failure = True, failure
            self._task.cancel()

    async def run(self) -> None:
        self._task = asyncio.current_task()
        with logs.ids(chat_id=self.chat.chat_id, turn_id=self.id):
            stop_reason: StopReason = "answered"
            try:
                stop_reason = await self._work()
            except asyncio.CancelledError:
                stop_reason = "cancelled"
                if self._task is not None:
                    self._task.uncancel()
            except CashCodeError as error:
                self._failure = error
            except Exception:
                LOG.exception("turn.crashed")
                self._failure = InternalError()
            self._ending = True
            self._close(stop_reason)

    async def _work(self) -> StopReason:
        self._journal.begin_turn()
        self._beginning = Beginning(self.parts.bus, self.chat, self.message, self.metadata, self.id)
        self._beginning.start(self.choice, self.title, self._model_content(), on_failure=self.stop)
        refuse_what_is_not_there(self.metadata)
        self._tally.window = await self._context_window()
        self._tell_when_blind()
        for _number in range(self.parts.max_iterations):
            self._take_steers()
            completion = await self._ask(with_tools=True)
            if not completion.tool_calls:
                if self._steered():
                    self._keep_words(completion)
                    continue
                self._keep_words(completion)
                return "answered"
            self._tally.tool_calls += len(completion.tool_calls)
            self._announced()
            looping = await self._round.run(completion, self.id)
            if looping:
                self._speech.say(
                    _(
                        "I stopped here: I was repeating the same call to `{tool}` and its result did not change."
                    ).format(tool=looping)
                )
                self._keep_words(None)
                return "loop"
        self._take_steers()
        completion = await self._ask(with_tools=False)
        if not self._speech.words.strip():
            self._speech.say(
                _("I used all steps of this turn ({count}) without reaching an answer.").format(
                    count=self.parts.max_iterations
                )
            )
        self._keep_words(completion)
        return "budget"

    def _announced(self) -> None:
        if self._beginning is not None:
            self._beginning.finish()

    async def _ask(self, *, with_tools: bool) -> Completion:
        """One request to the model; its words are said as they come."""
        profile = self.parts.models.profile(self.choice)
        tools = self._schemas() if with_tools and profile.tools else ()
        system = self._system(bool(tools), profile)
        self._tally.sees = profile.vision is not False
        if self._tally.window is not None:
            overhead = estimate_tokens([{"content": system}, as_message(tools)])
            shown, sees = self.view.first_shown, self._tally.sees
            self.view.first_shown = first_shown(self.chat.messages, self._tally.window, shown, overhead, sees=sees)
        messages, first = self.chat.messages, self.view.first_shown
        note = "" if with_tools else prompt.BUDGET_NOTE
        gallery: Gallery = {}
        if self._tally.sees:
            gallery = await gallery_of(messages[first:], self.chat.attachments, self._gallery)

        def render(profile: Profile) -> bytes:
            return self.view.rendering.render(system, messages, first, profile, note, gallery)

        self._speech.begin()
        request = ModelRequest(choice=self.choice, messages=render, tools=tools, pictures=bool(gallery))
        try:
            completion = await self.parts.models.stream(
                request,
                on_text=self._speech.hear,
                on_reasoning=self._speech.think,
                on_retry=self._tell_retry,
            )
        finally:
            self._speech.end()
        completion.reasoning = self.parts.redactor(completion.reasoning)
        self._tally.sees = self.parts.models.profile(self.choice).vision is not False  # it may have been learned
        self._tally.count(completion, [{"content": system}, *messages[first:], as_message(tools)])
        if completion.finish_reason == "content_filter" and not completion.tool_calls:
            raise LlmContentFilter(_("The model's provider withheld this answer by its content rules."))
        if not with_tools:
            completion.tool_calls = []
        return completion

    def _schemas(self) -> Sequence[dict[str, Any]]:
        return self.parts.schemas.of(self.parts.tools.specs())

    def _system(self, tools: bool, profile: Profile) -> str:
        if self.view.system is None:
            self.view.system = prompt.system_prompt(
                self.parts.persona.read().text,
                self.parts.memory.read().text,
                workspace=self.parts.workspace,
                tools=tools,
                today=date.today(),
                window=self._tally.window or profile.context_window,
            )
        return self.view.system

    async def _context_window(self) -> int | None:
        if self.choice.provider == "openai_compatible":
            return self.parts.models.profile(self.choice).context_window
        try:
            async with asyncio.timeout(WINDOW_WAIT):
                return await self.parts.models.context_window(self.choice)
        except (LlmError, TimeoutError):
            return None

    def _model_content(self) -> str | None:
        content = prompt.user_content(self.message.content, self.metadata.context)
        return content if content != self.message.content else None

    def _steered(self) -> bool:
        return any(item.kind == "steer" for item in self.chat.pending)

    def _take_steers(self) -> None:
        if self._steered():
            self._announced()
        for item in [item for item in self.chat.pending if item.kind == "steer"]:
            self.chat.append_user(item.content, turn_id=self.id, message_id=item.message_id)
            self.chat.take_pending(item.message_id)

    def _keep_words(self, completion: Completion | None) -> None:
        if words := self._speech.words:
            self.chat.append_assistant(words, turn_id=self.id, reasoning=completion.reasoning if completion else "")
            self._speech.kept()

    def _tell_retry(self, error: LlmError, attempt: int, delay: float) -> None:
        self._publish(
            Retrying(
                turn_id=self.id, code=error.code, detail=error.detail, attempt=attempt, delay_sec=round(delay, 2)
            )
        )
        logs.event(LOG, logging.WARNING, "model.retrying", code=error.code, attempt=attempt, delay_sec=delay)

    def _tell_when_blind(self) -> None:
        """The model does not see the pictures of this message, which is known before it is asked."""
        pictures = any(item.kind == "image" for item in self.metadata.context)
        if pictures and self.parts.models.profile(self.choice).vision is False:
            self._tell_retry(cannot_see(self.choice.model), 0, 0.0)

    def _close(self, stop_reason: StopReason) -> None:
        """Write and tell how it ended. A disk that fails here is told as well; the turn still ends."""
        duration = round(time.monotonic() - self._started, 3)
        error = self._failure
        closing = self._closing_events(stop_reason, error, duration)
        try:
            self._announced()
            if self._beginning is not None:
                self._beginning.log()
            self._round.settle(self.id, cancelled=stop_reason == "cancelled")
            if self._speech.words:
                self.chat.append_assistant(self._speech.words, turn_id=self.id, partial=True)
                self._speech.kept()
            self.chat.end_turn(
                self.id,
                stop_reason="error" if error else stop_reason,
                usage=self._tally.usage.model_dump(),
                duration_sec=duration,
                last_seq=self._journal.seq + len(closing),
                tool_calls=self._tally.tool_calls,
                error=error.code if error else None,
            )
        except CashCodeError as storage_error:
            error = error or storage_error
            closing = self._closing_events(stop_reason, error, duration)
        for event in closing:
            self._publish(event)
        logs.event(
            LOG,
            logging.INFO if error is None else logging.WARNING,
            "turn.finished",
            stop_reason=stop_reason if error is None else "error",
            code=error.code if error else None,
            duration_sec=duration,
            tool_calls=self._tally.tool_calls,
        )

    def _closing_events(self, stop_reason: StopReason, error: CashCodeError | None, duration: float) -> list[Event]:
        return self._tally.closing_events(self.id, self._speech.stream_id, stop_reason, error, duration)

    def _publish(self, event: Event) -> None:
        self._announced()
        self.parts.bus.publish(self.chat.chat_id, event)
