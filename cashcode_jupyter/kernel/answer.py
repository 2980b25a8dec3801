"""An answer: the fold of a turn's events. Text and tool calls keep the order in which they came."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cashcode_jupyter.i18n import _

SHOWN_ARGUMENTS = 200
SHOWN_FAILURE = 300


@dataclass(frozen=True, kw_only=True)
class ToolStep:
    """One tool call of a turn. `ok` is None when no result came, `result` a preview of at most 2,000 characters."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    risk: str = "read"
    ok: bool | None = None
    result: str = ""
    truncated: bool = False
    duration_sec: float | None = None

    def sentence(self) -> str:
        """The call in one short line."""
        return call_line(self.ok, self.tool_name, self.arguments, self.result)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the agent answered. Shows as Markdown in a notebook and as its text in a terminal.

    `text` is the whole answer, `tool_calls` what it did on the way, `usage` the tokens of the turn
    (`prompt_tokens`, `completion_tokens`, `estimated`), `stop_reason` why it ended (`answered`, `cancelled`,
    `budget`, `loop`, `suppressed`; `error` or `interrupted` for one that is shown before its exception is raised).
    """

    text: str
    chat_id: str
    tool_calls: tuple[ToolStep, ...] = ()
    usage: dict[str, Any] = field(default_factory=dict)
    stop_reason: str = "answered"
    model: dict[str, str] | None = None
    parts: tuple[str | ToolStep, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        calls = f", {len(self.tool_calls)} tool calls" if self.tool_calls else ""
        return f"<Answer {shorten(self.text, 60)!r}{calls}, {self.stop_reason}, chat {self.chat_id!r}>"

    def _repr_markdown_(self) -> str:
        return markdown(self.parts)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(plain(self.parts))


class Transcript:
    """Folds events into an `Answer`; knows nothing of how they are shown."""

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        self._parts: list[list[str] | str] = []
        self._steps: dict[str, ToolStep] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason = ""
        self._model: dict[str, str] | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        match event.get("event"):
            case "delta":
                if not self._parts or isinstance(self._parts[-1], str):
                    self._parts.append([])
                texts = self._parts[-1]
                assert isinstance(texts, list)
                texts.append(event["text"])
            case "turn_started":
                self._model = event.get("llm")
            case "tool_call":
                call_id = event["call_id"]
                if call_id not in self._steps:
                    self._parts.append(call_id)
                self._steps[call_id] = ToolStep(
                    call_id=call_id,
                    tool_name=event["tool_name"],
                    arguments=event.get("arguments") or {},
                    risk=event.get("risk", "read"),
                )
            case "tool_result":
                call = self._steps.get(event["call_id"])
                if call is not None:
                    self._steps[call.call_id] = ToolStep(
                        call_id=call.call_id,
                        tool_name=call.tool_name,
                        arguments=call.arguments,
                        risk=call.risk,
                        ok=event["ok"],
                        result=event.get("result", ""),
                        truncated=event.get("truncated", False),
                        duration_sec=event.get("duration_sec"),
                    )
            case "done":
                self._usage = dict(event.get("usage") or {})
                self._stop_reason = event["stop_reason"]
            case "error":
                self._stop_reason = "error"

    def replace_text(self, text: str) -> None:
        """The stored answer instead of a stream that was cut by a broken connection."""
        self._parts = [part for part in self._parts if isinstance(part, str)]
        self._parts.append([text])
        self._stop_reason = "answered"

    def answer(self) -> Answer:
        parts = tuple(self._steps[part] if isinstance(part, str) else "".join(part) for part in self._parts)
        return Answer(
            text="".join(part for part in parts if isinstance(part, str)),
            chat_id=self.chat_id,
            tool_calls=tuple(part for part in parts if isinstance(part, ToolStep)),
            usage=self._usage,
            stop_reason=self._stop_reason or "interrupted",
            model=self._model,
            parts=parts,
        )


def plain(parts: tuple[str | ToolStep, ...]) -> str:
    """The answer as text: a line for each tool step, between the paragraphs where it happened."""
    blocks: list[str] = []
    for group in _groups(parts):
        blocks.append(group if isinstance(group, str) else "\n".join(step.sentence() for step in group))
    return "\n\n".join(blocks)


def markdown(parts: tuple[str | ToolStep, ...]) -> str:
    """The answer as Markdown, with the tool steps of each round folded away."""
    blocks: list[str] = []
    for group in _groups(parts):
        if isinstance(group, str):
            blocks.append(group)
            continue
        names = ", ".join(dict.fromkeys(re.sub(r"[^\w.-]", "", step.tool_name) for step in group))
        title = _("{count} tool calls: {names}") if len(group) > 1 else _("{count} tool call: {names}")
        steps = "\n".join(f"- {code(step.sentence())}" for step in group)
        summary = title.format(count=len(group), names=names)
        blocks.append(f"<details><summary>{summary}</summary>\n\n{steps}\n\n</details>")
    return "\n\n".join(blocks)


def _groups(parts: tuple[str | ToolStep, ...]) -> list[str | list[ToolStep]]:
    groups: list[str | list[ToolStep]] = []
    for part in parts:
        if isinstance(part, str):
            groups.append(part)
        elif groups and isinstance(groups[-1], list):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def code(text: str) -> str:
    """`text` as a Markdown code span, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def call_line(ok: bool | None, name: str, arguments: Mapping[str, Any] | None, result: str = "") -> str:
    """A tool call in one line; `ok` is None while there is no result, which is shown only for a failure."""
    line = {True: "✓", False: "✗", None: "…"}[ok] + " " + name
    if arguments is not None:
        line += f"({shorten(arguments_text(arguments), SHOWN_ARGUMENTS)})"
    if ok is False and (reason := shorten(result, SHOWN_FAILURE)):
        line += f": {reason}"
    return line


def arguments_text(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())


def one_line(text: str) -> str:
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """`text` in one line of at most `limit` characters."""
    text = one_line(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
