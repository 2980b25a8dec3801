"""The deltas of one answer, added up: text and reasoning go out at once, tool calls and usage wait for the end.

One rule: only what is there is believed. A missing `choices`, `delta`, `index` or `finish_reason` is skipped, an
error in any of its shapes is raised. `feed` runs once a chunk and does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.call_slots import CallSlots, new_call_id
from cashcode_jupyter.llm.completion import Completion, ToolCallDraft
from cashcode_jupyter.llm.errors import from_stream_error
from cashcode_jupyter.llm.surrogates import SurrogateJoiner
from cashcode_jupyter.llm.textual_calls import TextualCalls
from cashcode_jupyter.llm.think import ThinkSplitter
from cashcode_jupyter.protocol.errors import LlmContentFilter, LlmOverloaded, LlmProtocol, LlmServer


class Accumulator:
    """Adds up the chunks of one answer.

    `tool_names`: the offered tools whose calls may also come as `<tool_call>` text; empty to leave such text alone.
    `assume_thinking`: the model's text begins as reasoning without an opening tag.
    """

    def __init__(
        self,
        on_text: Callable[[str], None],
        on_reasoning: Callable[[str], None],
        *,
        tool_names: Collection[str] = (),
        assume_thinking: bool = False,
    ) -> None:
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallSlots()
        self._textual = TextualCalls(self._show, tool_names) if tool_names else None
        visible = self._textual.feed if self._textual else self._show
        self.think = ThinkSplitter(visible, self._reason, assume_open=assume_thinking)
        self._text_joiner, self._reasoning_joiner = SurrogateJoiner(), SurrogateJoiner()
        self._separate = False
        self._answered = False
        self._finish = ""
        self._usage: dict[str, Any] = {}

    @property
    def visible(self) -> bool:
        """Whether anything was shown, so that the request must not be tried again."""
        return bool(self._text or self._reasoning)

    @property
    def started(self) -> bool:
        """Whether a token of the answer came."""
        return bool(self._text or self._reasoning or self._calls)

    @property
    def finished(self) -> bool:
        """Whether the server said that the answer is over; only the usage may still come."""
        return bool(self._finish)

    def feed(self, payload: Any) -> None:
        """Add one chunk. Raises an `LlmError` when it holds an error."""
        if not isinstance(payload, dict):
            if isinstance(payload, list):
                for item in payload:
                    self.feed(item)
            return
        if payload.get("error") or payload.get("object") == "error":
            raise from_stream_error(payload)
        if usage := payload.get("usage"):
            self._usage = usage if isinstance(usage, dict) else self._usage
        choices = payload.get("choices")
        if not choices or not isinstance(choices, list):
            if "detail" in payload and choices is None:
                raise from_stream_error(payload)
            return
        for choice in choices:
            if isinstance(choice, dict) and not choice.get("index"):
                self._choice(choice)

    def _choice(self, choice: dict[str, Any]) -> None:
        self._answered = True
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            self._finish = finish

    def _delta(self, delta: dict[str, Any]) -> None:
        if reasoning := _reasoning(delta):
            if not self._separate:
                self._separate = True
                self.think.reasoning_is_separate()
            if reasoning := self._reasoning_joiner.feed(reasoning):
                self._reason(reasoning)
        content = delta.get("content")
        if content:
            self._content(content)
        if (refusal := delta.get("refusal")) and isinstance(refusal, str):
            self._content(refusal)
        if (calls := delta.get("tool_calls")) and isinstance(calls, list):
            for entry in calls:
                self._calls.feed(entry)
        elif call := delta.get("function_call"):
            self._calls.feed({"index": 0, "function": call})

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            if content := self._text_joiner.feed(content):
                self.think.feed(content)
        elif isinstance(content, list):
            for part in content:
                if not isinstance(part, dict):
                    continue
                if isinstance(text := part.get("text"), str) and text:
                    self._content(text)
                elif thought := _texts(part.get("thinking")):
                    self._delta({"reasoning": thought})

    def _show(self, text: str) -> None:
        self._text.append(text)
        self._on_text(text)

    def _reason(self, text: str) -> None:
        self._reasoning.append(text)
        self._on_reasoning(text)

    def release(self) -> None:
        """The stream broke: show what was held back, so that nothing that came is lost."""
        self._flush(whole=False, native=True)

    def finish(self, *, done: bool, whole_body: bool = False) -> Completion:
        """The answer, when the stream has ended by itself.

        `done`: `[DONE]` came; `whole_body`: it was one JSON body. Raises `LlmProtocol` for an answer without an
        end, `LlmContentFilter`, `LlmOverloaded` and `LlmServer` for the ends that say so; what was shown stays
        shown.
        """
        reason = self._finish
        ended = bool(reason) or done or (whole_body and self._answered)
        cut = reason == "length" or not ended
        textual = self._flush(whole=not cut, native=bool(self._calls))
        calls = self._calls.drafts(cut=cut)
        calls += [ToolCallDraft(new_call_id(), name, arguments, True) for name, arguments in textual]
        text = "".join(self._text)
        if self._calls.nameless and not (text or calls):
            raise LlmProtocol(_("The model asked for a tool without naming one."))
        _check_end(reason, ended, empty=not (text or calls or self._reasoning))
        return Completion(
            text=text,
            reasoning="" if self.think.never_closed else "".join(self._reasoning),
            tool_calls=calls,
            finish_reason=reason or "stop",
            prompt_tokens=_count(self._usage.get("prompt_tokens")),
            completion_tokens=_count(self._usage.get("completion_tokens")),
            cut=cut,
        )

    def _flush(self, *, whole: bool, native: bool) -> list[tuple[str, str]]:
        if text := self._text_joiner.flush():
            self.think.feed(text)
        if reasoning := self._reasoning_joiner.flush():
            self._reason(reasoning)
        self.think.flush(whole=whole)
        return self._textual.flush(native=native, whole=whole) if self._textual else []


def _check_end(reason: str, ended: bool, *, empty: bool) -> None:
    if reason == "content_filter":
        raise LlmContentFilter(_("The model's provider stopped this answer by its content filter."))
    if reason == "insufficient_system_resource":
        raise LlmOverloaded(_("The model server ran out of resources and stopped the answer. Try again later."))
    if reason == "error":
        raise LlmServer(_("The model server reported an error and stopped the answer."))
    if not ended and empty:
        raise LlmProtocol(_("The model server sent an empty answer. Check the base URL and the model's name."))
    if not ended:
        raise LlmProtocol(_("The answer ended without its end mark, so a part of it may be missing."))


def _reasoning(delta: dict[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        if (value := delta.get(name)) and isinstance(value, str):
            return value
    if details := delta.get("reasoning_details"):
        return _texts(details)
    return ""


def _texts(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") or part.get("summary") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
