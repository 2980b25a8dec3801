"""An append-only JSONL file: one record a line, whole or not there at all.

The one rule: a record that `append` returned for survives `kill -9`, and nothing ever glues itself to a torn
line. The last line says how far the cursors are; there is no second file that could disagree with it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import StorageError
from cashcode_jupyter.storage.atomic import make_folder, storage_errors, sync_folder
from cashcode_jupyter.storage.backwards import Entry, lines_backwards, parse, read_backwards

LOG = logs.log("ledger")
CORRUPT_SUFFIX = ".corrupt"
_BINARY = getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class Ledger:
    """One process appends, under a lease that its owner holds; anybody may read.

    Opening reads the end of the file only. The file and its folder appear with the first `append`.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.last_cursor = 0
        self._what = what
        self._fd: int | None = None
        self._size = 0
        self._identity = (0, 0)
        self._broken: set[int] = set()
        self._reported = 0
        self._torn = False
        self._overtaken = False
        self._new = False

    @classmethod
    def open(cls, path: Path, *, what: str | None = None) -> Ledger:
        """Open for appending and repair a torn tail; `what` names the thing in errors ("the chat").

        Raises `StorageError` or `ReadOnly` in words.
        """
        ledger = cls(path, what or _("the chat"))
        with storage_errors(ledger._what):
            if path.exists():
                ledger._attach()
        return ledger

    @property
    def broken_lines(self) -> int:
        """How many lines without a readable record were met so far while reading."""
        return len(self._broken)

    def append(self, record: Mapping[str, Any]) -> int:
        """Add one record behind `cursor` and `timestamp`; returns its cursor.

        It is with the operating system when this returns. A write that fails is undone and raises
        `StorageError` or `ReadOnly`; the next append may succeed.
        """
        with storage_errors(self._what):
            self._make_ready()
            cursor = self.last_cursor + 1
            head = {"cursor": cursor, "timestamp": datetime.now().strftime("%Y-%m-%d %H:%M")}
            self._write(_encode({**head, **record, **head}))
        self.last_cursor = cursor
        return cursor

    def sync(self) -> None:
        """Return when everything appended so far survives a power loss. Blocks: call it in a thread."""
        if self._fd is None:
            return
        fd, new = os.dup(self._fd), self._new
        self._new = False
        self._sync(fd, new)

    def backwards(self) -> Iterator[dict[str, Any]]:
        """The records, newest first; what comes first is read first, in bounded blocks."""
        return (entry.record for entry in self.entries())

    def entries(self, *, before: int | None = None) -> Iterator[Entry]:
        """The records with their positions, newest first; with `before` only those with a lower cursor."""
        with storage_errors(self._what):
            try:
                yield from read_backwards(self.path, before=before, on_broken=self._broken.add)
            finally:
                self._report_broken()

    def changed_outside(self) -> bool:
        """Whether the file is no longer what this object wrote: appended to, replaced or removed by others."""
        if self._overtaken:
            return True
        with storage_errors(self._what):
            return self._differs()

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _report_broken(self) -> None:
        if new := len(self._broken) - self._reported:
            self._reported = len(self._broken)
            logs.event(LOG, logging.WARNING, "ledger.broken_lines", file=self.path.name, count=new)

    def _make_ready(self) -> None:
        if self._fd is None:
            make_folder(self.path.parent)
            self._attach()
            self._overtaken = self._size > 0
            self._new = True
        elif self._torn:
            os.ftruncate(self._fd, self._size)
            self._torn = False
        elif self._differs():
            self._overtaken = True
            if not self.path.exists():
                raise StorageError(
                    _("Something removed {what} from the disk while it was in use.").format(what=self._what)
                )
            self.close()
            self._attach()

    def _differs(self) -> bool:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return self._fd is not None
        return self._fd is None or ((found.st_dev, found.st_ino), found.st_size) != (self._identity, self._size)

    def _attach(self) -> None:
        # A link in the place of a ledger is nobody's history; what it points to must not be written.
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NOFOLLOW | _BINARY, 0o666)
        try:
            found = os.fstat(fd)
            self._identity, self._size = (found.st_dev, found.st_ino), found.st_size
            self.last_cursor = 0
            if self._size:
                self._repair_tail(fd)
                newest = next(read_backwards(self.path, on_broken=self._broken.add), None)
                self.last_cursor = newest.cursor if newest else 0
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def _repair_tail(self, fd: int) -> None:
        """Make the file end in a newline: a whole last record gets one, a torn one is moved aside."""
        with self.path.open("rb", buffering=0) as file:
            if not self._size or (file.seek(self._size - 1), file.read(1)) == (self._size - 1, b"\n"):
                return
            offset, tail = next(lines_backwards(file, self._size))
        if parse(tail) is not None:
            os.write(fd, b"\n")
            self._size += 1
            return
        self._move_aside(tail)
        os.ftruncate(fd, offset)
        self._size = offset
        logs.event(LOG, logging.WARNING, "ledger.torn_tail", file=self.path.name, bytes=len(tail))

    def _move_aside(self, tail: bytes) -> None:
        aside = self.path.with_name(self.path.name + CORRUPT_SUFFIX)
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
        try:
            kept = os.fstat(fd).st_size
            try:
                _write_whole(fd, tail + b"\n")
                os.fsync(fd)
            except OSError:
                os.ftruncate(fd, kept)
                raise
        finally:
            os.close(fd)

    def _write(self, line: bytes) -> None:
        assert self._fd is not None
        try:
            _write_whole(self._fd, line)
        except BaseException:
            self._torn = True
            self._undo()
            raise
        self._size += len(line)

    def _undo(self) -> None:
        """Cut off the half of a record; where even that fails, the next append tries it first."""
        assert self._fd is not None
        try:
            os.ftruncate(self._fd, self._size)
            self._torn = False
        except OSError as error:
            logs.event(LOG, logging.ERROR, "ledger.undo_failed", file=self.path.name, errno=error.errno)

    def _sync(self, fd: int, new: bool) -> None:
        with storage_errors(self._what):
            try:
                getattr(os, "fdatasync", os.fsync)(fd)
            finally:
                os.close(fd)
            if new:
                sync_folder(self.path.parent)
                sync_folder(self.path.parent.parent)


def _write_whole(fd: int, data: bytes) -> None:
    """One `write`; a short one goes on until the reason for it shows."""
    left = memoryview(data)
    while left:
        written = os.write(fd, left)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        left = left[written:]


def _encode(record: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(record, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; the escaped form brings it back unchanged.
        return (json.dumps(record) + "\n").encode()
