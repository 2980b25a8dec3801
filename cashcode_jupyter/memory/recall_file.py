"""The search index as one file: a cache, which may be deleted, torn or written by another version at any time.

What is not wholly and exactly what this module wrote is no index; it is read as none and built again.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import zlib
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cashcode_jupyter import logs
from cashcode_jupyter.memory.recall_index import COUNT_BITS, FORGOTTEN, TurnIndex
from cashcode_jupyter.storage import atomic

LOG = logs.log("recall")
MAGIC = b"CashCode recall\n"
VERSION = 1
MAX_BYTES = 512 << 20
TMP_AGE = 3600.0


@dataclass
class Source:
    """How far one chat's history was read.

    `stamp` is device, inode, size and mtime in ns. `offset` is where the next reading starts, `cursor` that of the
    record before it, `guard` a checksum of the bytes before it. `open_turn` is the number of the turn that begins
    at `offset` and has no end yet, -1 when there is none.
    """

    chat_id: str
    stamp: tuple[int, int, int, int]
    offset: int = 0
    cursor: int = 0
    guard: int = 0
    open_turn: int = -1


@dataclass
class Stored:
    """The index and what it was built from; a source's place in the list is the number of its chat."""

    index: TurnIndex
    sources: list[Source | None]
    dropped: int = 0


def write(path: Path, stored: Stored) -> None:
    """Replace the file. Blocks; raises `OSError`."""
    index = stored.index
    columns = [*index.columns(), array("I", map(len, index.postings.values()))]
    words = "\n".join(index.postings).encode()
    head = {
        "version": VERSION,
        "byteorder": sys.byteorder,
        "sources": [asdict(source) if source else None for source in stored.sources],
        "dropped": stored.dropped,
        "words": len(words),
        "columns": [len(column) for column in columns],
    }
    parts = [json.dumps(head).encode() + b"\n", words]
    parts += (column.tobytes() for column in columns)
    parts += (postings.tobytes() for postings in index.postings.values())
    body = b"".join(parts)
    atomic.replace(path, b"%b%08x\n%b" % (MAGIC, zlib.crc32(body), body), private=True)
    _sweep(path)


def read(path: Path) -> Stored | None:
    """What `write` wrote, None when that is not there or not whole. Blocks."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
        return _decoded(memoryview(data))
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        logs.event(LOG, logging.WARNING, "recall.index_unreadable", reason=type(error).__name__)
        return None


def _decoded(data: memoryview) -> Stored:
    start = len(MAGIC) + 9
    body = data[start:]
    if data[:start] != b"%b%08x\n" % (MAGIC, zlib.crc32(body)):
        raise ValueError("torn or not an index")
    end = bytes(body[: 64 << 20]).index(b"\n")
    head: dict[str, Any] = json.loads(bytes(body[:end]))
    if head["version"] != VERSION or head["byteorder"] != sys.byteorder:
        raise ValueError("another version or machine")
    at = end + 1
    words = str(body[at : at + head["words"]], "utf-8").split("\n") if head["words"] else []
    at += head["words"]
    index = TurnIndex()
    lengths = array("I")
    for column, count in zip((*index.columns(), lengths), head["columns"], strict=True):
        column.frombytes(body[at : at + count * column.itemsize])
        at += count * column.itemsize
    postings = array("I")
    postings.frombytes(body[at:])
    sources = [_source(value) if value else None for value in head["sources"]]
    _check(index, words, lengths, postings, sources)
    done = 0
    for word, length in zip(words, lengths, strict=True):
        index.postings[word] = postings[done : done + length]
        done += length
    index.entries = len(postings)
    index.count()
    return Stored(index, sources, int(head["dropped"]))


def _source(value: dict[str, Any]) -> Source:
    device, inode, size, changed = map(int, value["stamp"])
    numbers = {name: int(value[name]) for name in ("offset", "cursor", "guard", "open_turn")}
    return Source(str(value["chat_id"]), (device, inode, size, changed), **numbers)


def _check(
    index: TurnIndex, words: list[str], lengths: array[int], postings: array[int], sources: list[Source | None]
) -> None:
    """Numbers that point nowhere would break a search much later."""
    turns = len(index.chat)
    chats = set(index.chat) - {FORGOTTEN}
    fits = (
        len({len(column) for column in index.columns()}) == 1
        and len(words) == len(lengths)
        and sum(lengths) == len(postings)
        and (not postings or max(postings) >> COUNT_BITS < turns)
        and all(chat < len(sources) and sources[chat] for chat in chats)
        and all(source is None or source.open_turn < turns for source in sources)
    )
    if not fits:
        raise ValueError("inconsistent")


def _sweep(path: Path) -> None:
    """Remove what a process left that was killed while it wrote."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        try:
            if time.time() - left.stat().st_mtime > TMP_AGE:
                left.unlink()
        except OSError:
            continue
