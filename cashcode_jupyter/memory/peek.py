"""What a door must know of a chat that it attaches to, without opening it for writing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cashcode_jupyter.memory import metadata, pending
from cashcode_jupyter.memory.records import seq_of
from cashcode_jupyter.storage.backwards import read_backwards

RECORDS = 200


@dataclass(frozen=True)
class Peek:
    """`last_seq` is the event number that the last finished turn ended with, `waiting` whether messages wait."""

    title: str = ""
    last_seq: int = 0
    waiting: bool = False


def peek(folder: Path) -> Peek:
    """Reads the end of the history only; blocks. Raises `OSError`."""
    waiting = (folder / pending.FILE).exists()
    for entry in islice(read_backwards(folder / metadata.HISTORY), RECORDS):
        if (seq := seq_of(entry.record)) is not None:
            return Peek(metadata.title_of(metadata.read(folder)), seq, waiting)
    return Peek(metadata.title_of(metadata.read(folder)), waiting=waiting)
