"""What happened in one chat, in its running turn and a little before, in order and encoded once.

A subscriber is only a position in this list, so a slow one costs nothing and holds nobody up. Deltas in a row
stay one run of pieces: reading from any position joins exactly the pieces that were not seen yet.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from cashcode_jupyter.protocol.events import Event

MAX_OLD_BYTES = 128 << 10
MAX_FINISHED_BYTES = 4 << 20


class SlowReader(Exception):
    """The reader is further behind than the journal reaches; it must attach again with `after_seq`."""


def encode(value: object) -> bytes:
    """JSON as UTF-8 bytes; a lone surrogate becomes a replacement character instead of an error."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class Entry(NamedTuple):
    """One frame as a reader gets it: the number of its last event, its JSON, and whether it is streamed text."""

    seq: int
    frame: bytes
    is_text: bool


@dataclass(slots=True)
class _Single:
    first_seq: int
    frame: bytes

    @property
    def last_seq(self) -> int:
        return self.first_seq

    @property
    def size(self) -> int:
        return len(self.frame)

    def frame_after(self, seq: int) -> bytes:
        return self.frame


@dataclass(slots=True)
class _Run:
    """Deltas (or reasoning) of one stream in a row; `head` is the JSON of the fields they share."""

    first_seq: int
    kind: str
    stream_id: int
    head: bytes
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    _cached: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.pieces) - 1

    def frame_after(self, seq: int) -> bytes:
        first, last = max(self.first_seq, seq + 1), self.last_seq
        if self._cached[:2] != (first, last):
            text = encode("".join(self.pieces[first - self.first_seq :]))
            joined = b',"first_seq":%d' % first if first < last else b""
            frame = b'%s,"seq":%d%s,"text":%s}' % (self.head, last, joined, text)
            self._cached = (first, last, frame)
        return self._cached[2]


class Journal:
    """The events of one chat. `seq` is the number of the last one."""

    def __init__(self, chat_id: str, seq: int = 0) -> None:
        self.chat_id = chat_id
        self.seq = seq
        self.floor = seq
        self._entries: list[_Single | _Run] = []
        self._turn_first_seq = seq + 1
        self._bytes = 0

    def begin_turn(self) -> None:
        """A new turn starts. Earlier ones stay while they are small, so that no reader is ever just too late."""
        if self._bytes > MAX_OLD_BYTES:
            self._forget(self._turn_first_seq - 1)
        if self._bytes > MAX_FINISHED_BYTES:
            self._forget(self.seq)
        self._turn_first_seq = self.seq + 1

    def move_on(self, seq: int) -> bool:
        """Another process gave out numbers up to `seq`; True when that is news, and nothing before is kept."""
        if seq <= self.seq:
            return False
        self._forget(self.seq)
        self.seq = self.floor = seq
        self._turn_first_seq = seq + 1
        return True

    def forget_finished(self) -> None:
        """Nobody listens and no turn runs: drop the events, keep the number."""
        self._forget(self.seq)

    def add(self, event: Event) -> None:
        frame = encode(event.payload() | {"chat_id": self.chat_id, "seq": self.seq + 1})
        self.seq += 1  # an event that cannot be encoded takes no number
        self._entries.append(_Single(self.seq, frame))
        self._bytes += len(frame)

    def add_text(self, kind: str, text: str, *, stream_id: int, turn_id: str) -> None:
        """One piece of an answer (`kind` "delta") or of the model's thoughts ("reasoning")."""
        self.seq += 1
        run = self._running_text(kind, stream_id)
        if run is None:
            fields = {"event": kind, "chat_id": self.chat_id, "turn_id": turn_id, "stream_id": stream_id}
            run = _Run(self.seq, kind, stream_id, encode(fields)[:-1])
            self._entries.append(run)
        run.pieces.append(text)
        run.size += len(text)
        self._bytes += len(text)

    def _running_text(self, kind: str, stream_id: int) -> _Run | None:
        last = self._entries[-1] if self._entries else None
        if isinstance(last, _Run) and last.kind == kind and last.stream_id == stream_id:
            return last if last.first_seq >= self._turn_first_seq else None
        return None

    def next_after(self, seq: int) -> Entry | None:
        """The frame that follows `seq`, or None; raises `SlowReader` when what followed is gone."""
        if seq >= self.seq:
            return None
        if seq < self.floor:
            raise SlowReader(f"events up to {self.floor} are gone, {seq} was read")
        entry = self._entries[self._index_after(seq)]
        return Entry(entry.last_seq, entry.frame_after(seq), isinstance(entry, _Run))

    def may_grow_after(self, seq: int) -> bool:
        """Whether all that follows `seq` is more of a streamed text whose beginning was read already."""
        last = self._entries[-1] if self._entries else None
        return isinstance(last, _Run) and last.first_seq <= seq < last.last_seq

    def replay_position(self, after_seq: int) -> int:
        """Where an attaching client that saw `after_seq` goes on: never before the running turn.

        A number from the future was given by an earlier process, so none of our events was seen.
        """
        start = self._turn_first_seq - 1
        if after_seq > self.seq:
            return start
        return max(after_seq, start, self.floor)

    def _index_after(self, seq: int) -> int:
        return bisect_right(self._entries, seq, key=lambda entry: entry.last_seq)

    def _forget(self, seq: int) -> None:
        keep = self._index_after(seq)
        if keep:
            self.floor = self._entries[keep - 1].last_seq
            self._bytes -= sum(entry.size for entry in self._entries[:keep])
            del self._entries[:keep]
