"""Reads a JSONL file from an offset on, line by line in bounded memory; the twin of `backwards`.

A last line without a newline may still be being written: it is a record only when it can be read. A line that is
no JSON object, or is longer than `MAX_LINE`, costs only itself.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cashcode_jupyter.storage.backwards import own_cursor, parse

MAX_LINE = 16 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Line(NamedTuple):
    """One line, `data` without its newline. `record` is None when it holds none; `end` is where the next begins."""

    offset: int
    end: int
    cursor: int
    record: dict[str, Any] | None
    data: bytes


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading; a link, a pipe, a folder or a device raises `OSError` at once."""
    fd = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def read_forwards(file: BinaryIO, *, offset: int = 0, cursor: int = 0) -> Iterator[Line]:
    """The lines of `file` from `offset`, blank ones left out; `cursor` is that of the record before `offset`.

    Raises `OSError`.
    """
    file.seek(offset)
    while data := file.readline(MAX_LINE):
        start, offset = offset, offset + len(data)
        whole = data.endswith(b"\n")
        if not whole and len(data) == MAX_LINE:
            offset += _skip_line(file)
            yield Line(start, offset, cursor, None, b"")
            continue
        data = data.rstrip(b"\r\n")
        if not data or data.isspace():
            continue
        record = parse(data)
        if record is None:
            if not whole:
                return
        else:
            own = own_cursor(record)
            cursor = cursor + 1 if own is None else own
        yield Line(start, offset, cursor, record, data)


def _skip_line(file: BinaryIO) -> int:
    """Read to the end of a line that is too long; returns how many bytes that took."""
    skipped = 0
    while data := file.readline(MAX_LINE):
        skipped += len(data)
        if data.endswith(b"\n"):
            break
    return skipped
