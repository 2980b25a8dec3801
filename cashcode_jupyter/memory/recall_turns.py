"""A history cut into the turns that search knows: a message, all that was done for it, and the answer.

What of a turn is searched is bounded: an endless tool result adds its beginning and its end.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cashcode_jupyter.memory.bubbles import RECEIPT
from cashcode_jupyter.memory.records import ANSWER, CALLS, CLOSING, RESULT, USER, calls_of, text_of
from cashcode_jupyter.memory.tokens import document_tokens
from cashcode_jupyter.storage.forwards import Line, read_forwards

MAX_TEXT = 8_000
MAX_RESULT = 2_000
MAX_ARGUMENTS = 1_000
MAX_TURN = 48_000


@dataclass
class ReadTurn:
    """One turn; `end` is where the next begins. `closed` says that nothing will be added to it."""

    start: int
    cursor: int
    end: int = 0
    last_cursor: int = 0
    closed: bool = False
    tokens: Counter[str] = field(default_factory=Counter)
    mark: int = 0


@dataclass(frozen=True)
class Said:
    """One text of a turn; `name` is that of the tool when it is a result or a call."""

    cursor: int
    role: str
    text: str
    name: str = ""


def read_turns(file: BinaryIO, *, offset: int = 0, cursor: int = 0) -> Iterator[ReadTurn]:
    """The turns from `offset`, which must be where one begins; `cursor` is that of the record before it.

    A turn is closed by its closing record or by the next message. Raises `OSError`.
    """
    turn: ReadTurn | None = None
    digest = hashlib.blake2b(digest_size=8)
    room = MAX_TURN

    def finished(closed: bool) -> ReadTurn:
        assert turn is not None
        turn.closed = closed
        turn.mark = int.from_bytes(digest.digest())
        return turn

    for line in read_forwards(file, offset=offset, cursor=cursor):
        role = line.record.get("role") if line.record else None
        if turn is not None and role == USER:
            yield finished(True)
            turn = None
        if turn is None:
            turn = ReadTurn(line.offset, line.cursor)
            digest, room = hashlib.blake2b(digest_size=8), MAX_TURN
        digest.update(line.data)
        turn.end, turn.last_cursor = line.end, line.cursor
        for said in said_in(line):
            text = said.text[:room]
            room -= len(text)
            turn.tokens.update(document_tokens(text))
        if role == CLOSING:
            yield finished(True)
            turn = None
    if turn is not None:
        yield finished(False)


def said_in(line: Line) -> list[Said]:
    """The texts of one record that are searched; none for summaries, receipts and what is no record."""
    record, cursor = line.record, line.cursor
    if record is None:
        return []
    role = record.get("role")
    if role == USER:
        return [Said(cursor, "user", text_of(record.get("content"))[:MAX_TEXT])]
    if role == ANSWER:
        text = text_of(record.get("content"))
        return [] if RECEIPT.fullmatch(text) else [Said(cursor, "assistant", text[:MAX_TEXT])]
    if role == RESULT:
        return [Said(cursor, "tool", _ends(text_of(record.get("content"))), text_of(record.get("name")))]
    if role == CALLS:
        return _called(record, cursor)
    return []


def _called(record: dict[str, Any], cursor: int) -> list[Said]:
    said = []
    if text := text_of(record.get("text")):
        said.append(Said(cursor, "assistant", text[:MAX_TEXT]))
    for call in calls_of(record, cursor):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        said.append(Said(cursor, "tool", f"{name} {arguments[:MAX_ARGUMENTS]}", name))
    return said


def _ends(text: str) -> str:
    if len(text) <= MAX_RESULT:
        return text
    head = MAX_RESULT * 3 // 4
    return f"{text[:head]}\n…\n{text[head - MAX_RESULT :]}"
