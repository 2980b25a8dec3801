"""A chat as it is told to others: what was said, and each call with its result, oldest first and without secrets.

Summaries, reasoning, receipts and attached context stay behind; they are the agent's, not the conversation's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cashcode_jupyter.memory.bubbles import RECEIPT
from cashcode_jupyter.memory.records import ANSWER, CALLS, CLOSING, RESULT, USER, calls_of, pictures_of, text_of
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.storage.forwards import Line, read_forwards


@dataclass(frozen=True)
class Message:
    """What the user or the assistant said; `pictures` are `{file, label}` of what came with it."""

    cursor: int
    role: str
    text: str
    timestamp: str
    pictures: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True)
class Call:
    """One tool call; calls of one record have one cursor. `result` is None when none was stored."""

    cursor: int
    id: str
    name: str
    arguments: dict[str, Any]
    result: str | None
    ok: bool
    timestamp: str


Step = Message | Call


def steps(history: Path, redactor: Redactor) -> Iterator[Step]:
    """All steps; blocks. A call stands where it was made, with its result. Raises `OSError`."""
    with history.open("rb") as file:
        turn: list[Line] = []
        for line in read_forwards(file):
            role = line.record.get("role") if line.record else None
            if role == USER:
                yield from _told(turn, redactor)
                turn = []
            turn.append(line)
            if role == CLOSING:
                yield from _told(turn, redactor)
                turn = []
        yield from _told(turn, redactor)


def _told(turn: list[Line], redactor: Redactor) -> Iterator[Step]:
    results: dict[str, list[dict[str, Any]]] = {}
    for line in turn:
        if line.record and line.record.get("role") == RESULT:
            results.setdefault(str(line.record.get("tool_call_id")), []).append(line.record)
    for line in turn:
        record = line.record or {}
        role, when = record.get("role"), text_of(record.get("timestamp"))[:40]
        if role == USER:
            pictures = tuple(pictures_of(record))
            yield Message(line.cursor, "user", redactor(text_of(record.get("content"))), when, pictures)
        elif role == ANSWER:
            text = text_of(record.get("content"))
            if text.strip() and not RECEIPT.fullmatch(text):
                yield Message(line.cursor, "assistant", redactor(text), when)
        elif role == CALLS:
            if (text := text_of(record.get("text"))).strip():
                yield Message(line.cursor, "assistant", redactor(text), when)
            for call in calls_of(record, line.cursor):
                stored = results.get(call["id"])
                yield _call(line.cursor, call, stored.pop(0) if stored else None, redactor, when)


def _call(cursor: int, call: dict[str, Any], stored: dict[str, Any] | None, redactor: Redactor, when: str) -> Call:
    content = text_of(stored.get("content")) if stored else None
    ok = stored.get("ok") if stored else False
    return Call(
        cursor,
        call["id"],
        call["function"]["name"],
        arguments_of(call["function"]["arguments"], redactor),
        None if content is None else redactor(content),
        # The seed stored no outcome; its failures begin with this word.
        ok if isinstance(ok, bool) else not (content or "").startswith("Error"),
        when,
    )


def arguments_of(text: str, redactor: Redactor) -> dict[str, Any]:
    """A call's arguments as an object, without secrets; what is no object is kept as text under `unparsed`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return redactor.value(value) if isinstance(value, dict) else {"unparsed": redactor(text)}
