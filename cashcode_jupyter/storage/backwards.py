"""Reads a JSONL file from its end, so the newest records cost the same however long the file is.

A line that is no JSON object costs only itself: it is skipped and reported by its offset. A last line without a
newline that cannot be read is still being written, so it is neither shown nor reported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

BLOCK = 64 * 1024
MAX_CURSOR = 2**53


class Entry(NamedTuple):
    """One record and where it stands. `cursor` is its own, or counted on from the record before it."""

    offset: int
    cursor: int
    record: dict[str, Any]


def _ignore(offset: int) -> None:
    """Nobody wants to know about broken lines."""


def read_backwards(
    path: Path, *, before: int | None = None, on_broken: Callable[[int], None] = _ignore
) -> Iterator[Entry]:
    """The records of `path`, newest first; with `before` only those whose cursor is lower, found by bisection.

    Raises `OSError`; a file that is not there has no records.
    """
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        end = file.seek(0, os.SEEK_END)
        if before is not None:
            end = _end_before(file, end, before)
        for entry in _numbered(_records(file, end, on_broken)):
            if before is None or entry.cursor < before:
                yield entry


def lines_backwards(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """`(offset, line)` of each line that is not empty and lies before `end`, last first."""
    pieces: list[bytes] = []
    while end:
        start = max(0, end - BLOCK)
        file.seek(start)
        block = file.read(end - start)
        if len(block) < end - start:
            return
        first, *others = block.split(b"\n")
        position = end
        for piece in reversed(others):
            position -= len(piece)
            pieces.append(piece)
            if line := b"".join(reversed(pieces)):
                yield position, line
            pieces = []
            position -= 1
        pieces.append(first)
        end = start
    if line := b"".join(reversed(pieces)):
        yield 0, line


def parse(line: bytes) -> dict[str, Any] | None:
    """The object of one line, None when it holds none. NUL bytes around it are what a power loss leaves."""
    try:
        value = json.loads(line.strip(b"\0").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def own_cursor(record: dict[str, Any]) -> int | None:
    cursor = record.get("cursor")
    if isinstance(cursor, int) and not isinstance(cursor, bool) and 0 <= cursor < MAX_CURSOR:
        return cursor
    return None


def _records(file: BinaryIO, end: int, on_broken: Callable[[int], None]) -> Iterator[tuple[int, dict[str, Any]]]:
    may_be_torn = not _ends_with_newline(file, end)
    for offset, line in lines_backwards(file, end):
        record = parse(line)
        if line.isspace() or (may_be_torn and record is None):
            may_be_torn = False
            continue
        may_be_torn = False
        if record is None or b"\0" in line:
            on_broken(offset)
        if record is not None:
            yield offset, record


def _ends_with_newline(file: BinaryIO, end: int) -> bool:
    if not end:
        return True
    file.seek(end - 1)
    return file.read(1) == b"\n"


def _numbered(records: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[Entry]:
    """Gives records without a usable cursor the numbers after the record before them."""
    waiting: list[tuple[int, dict[str, Any]]] = []
    for offset, record in records:
        waiting.append((offset, record))
        if (cursor := own_cursor(record)) is not None:
            yield from _counted(waiting, cursor)
            waiting = []
    yield from _counted(waiting, 1)


def _counted(newest_first: list[tuple[int, dict[str, Any]]], first: int) -> Iterator[Entry]:
    last = first + len(newest_first) - 1
    for distance, (offset, record) in enumerate(newest_first):
        yield Entry(offset, last - distance, record)


def _end_before(file: BinaryIO, size: int, cursor: int) -> int:
    """The start of a line at or little after the first record whose cursor is not below `cursor`."""
    low, high = 0, size
    while high - low > BLOCK:
        found = _first_cursor(file, (low + high) // 2, high)
        if found is None:
            break
        offset, value = found
        if value >= cursor:
            high = offset
        else:
            low = offset
    return high


def _first_cursor(file: BinaryIO, start: int, end: int) -> tuple[int, int] | None:
    """Offset and cursor of the first record with one whose line begins after `start` and before `end`."""
    file.seek(start)
    offset, rest = start, b""
    aligned = False
    while offset + len(rest) < end:
        block = file.read(BLOCK)
        if not block:
            return None
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            record = parse(line) if aligned and offset < end else None
            if record is not None and (cursor := own_cursor(record)) is not None:
                return offset, cursor
            offset += len(line) + 1
            aligned = True
    return None
