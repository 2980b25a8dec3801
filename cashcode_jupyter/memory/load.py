"""Smart load: what a chat needs to go on, read from the end of its ledger.

With a summary: it and the records from its `keep_from_cursor`. Without one: the newest turns, as many as fit the
bounds. So resuming costs the tail of a chat, not its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cashcode_jupyter.memory.records import (
    ANSWER,
    CALLS,
    CLOSING,
    RESULT,
    SUMMARY,
    USER,
    calls_of,
    message_of,
    seq_of,
)
from cashcode_jupyter.storage.backwards import Entry
from cashcode_jupyter.storage.ledger import Ledger

MAX_RECORDS = 1000
MAX_BYTES = 4 << 20
LONGEST_TURN = 4
TURN_ROLES = (USER, CALLS, RESULT, ANSWER, CLOSING)
SEQ_SEARCH = 200


@dataclass(frozen=True)
class OpenTurn:
    """A turn without its closing record; `missing` are `(call id, tool name)` of calls without a result."""

    turn_id: str
    missing: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Loaded:
    """`left_out`: how many records before the first loaded one are neither loaded nor in a summary."""

    messages: list[dict[str, Any]]
    left_out: int
    last_seq: int
    open_turn: OpenTurn | None
    message_ids: frozenset[str]


NOTHING = Loaded(messages=[], left_out=0, last_seq=0, open_turn=None, message_ids=frozenset())


def load(ledger: Ledger) -> Loaded:
    """Read the end of `ledger`; blocks for its tail."""
    summary, kept, left_out = _tail(ledger)
    entries = ([summary] if summary else []) + kept[::-1]
    return Loaded(
        messages=[made for entry in entries if (made := message_of(entry.record, entry.cursor))],
        left_out=left_out,
        last_seq=_stored_seq(ledger, kept),
        open_turn=_open_turn(kept),
        message_ids=frozenset(
            value for entry in kept if isinstance(value := entry.record.get("message_id"), str) and value
        ),
    )


def _tail(ledger: Ledger) -> tuple[Entry | None, list[Entry], int]:
    """The last summary if there is one, the kept records newest first, and how many were left out."""
    summary: Entry | None = None
    kept: list[Entry] = []
    first, left_out, end = 0, 0, None
    for entry in ledger.entries():
        if summary and entry.cursor < first:
            break
        end = entry.offset if end is None else end
        role = entry.record.get("role")
        if role == SUMMARY:
            if summary is None:
                summary, first = entry, _keep_from(entry)
            continue
        kept.append(entry)
        fill = max(len(kept) / MAX_RECORDS, (end - entry.offset) / MAX_BYTES)
        if fill >= LONGEST_TURN or (fill >= 1 and role == USER):
            left_out = max(0, entry.cursor - max(first, 1))
            break
    return summary, [entry for entry in kept if entry.cursor >= first], left_out


def _keep_from(summary: Entry) -> int:
    value = summary.record.get("keep_from_cursor")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return summary.cursor + 1


def _open_turn(kept: Sequence[Entry]) -> OpenTurn | None:
    """The turn that the newest records belong to, if it never ended.

    Our turns end with a closing record. The seed wrote none: its turns end with the assistant's record.
    """
    newest = [entry for entry in kept if entry.record.get("role") in TURN_ROLES]
    if not newest or newest[0].record["role"] == CLOSING:
        return None
    turn_id = newest[0].record.get("turn_id")
    ours = isinstance(turn_id, str)
    if not ours and newest[0].record["role"] == ANSWER:
        return None
    answered: set[str] = set()
    missing: list[tuple[str, str]] = []
    for entry in newest:
        role = entry.record["role"]
        if role == CLOSING or (ours and entry.record.get("turn_id") != turn_id):
            break
        if role == RESULT:
            answered.add(str(entry.record.get("tool_call_id")))
        elif role == CALLS:
            called = [(call["id"], call["function"]["name"]) for call in calls_of(entry.record, entry.cursor)]
            missing[:0] = [call for call in called if call[0] not in answered]
        elif role == USER and not ours:
            break
    return OpenTurn(turn_id if isinstance(turn_id, str) else f"seed-{newest[0].cursor}", tuple(missing))


def _stored_seq(ledger: Ledger, kept: Sequence[Entry]) -> int:
    """The event number that the last closing record kept; it may stand just before the loaded records."""
    for entry in kept:
        if (seq := seq_of(entry.record)) is not None:
            return seq
    if kept:
        for entry in islice(ledger.entries(before=kept[-1].cursor), SEQ_SEARCH):
            if (seq := seq_of(entry.record)) is not None:
                return seq
    return 0
