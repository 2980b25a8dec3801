"""Keeps the search index in step with the histories of all chats, whoever wrote them.

A history only grows, so what was read once is not read again; one that was replaced, cut or edited is read anew.
One thread at a time is in here. What cannot be read costs only its own chat.
"""

from __future__ import annotations

import logging
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from cashcode_jupyter import logs
from cashcode_jupyter.memory import metadata, recall_file
from cashcode_jupyter.memory.recall_file import Source, Stored
from cashcode_jupyter.memory.recall_index import FORGOTTEN, MAX_TURNS, Turn, TurnIndex
from cashcode_jupyter.memory.recall_turns import ReadTurn, read_turns
from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.storage.forwards import open_plain

LOG = logs.log("recall")
GUARDED = 64
SAVE_AFTER = 250
SAVE_AT_END = 25
MAX_ENTRIES = 12_000_000
MAX_WORDS = 800_000
UNREAD = (0, 0, -1, 0)
SLICE = 0.002


class Sources:
    """The histories below `memory` and the index of them, kept in `file`. `stored` may be read by any thread."""

    def __init__(self, memory: Path, file: Path, *, max_entries: int = MAX_ENTRIES) -> None:
        self._memory = memory
        self._file = file
        self._max_entries = max_entries
        self._loaded = False
        self._unsaved = 0
        self._rested = 0.0
        self.stored = Stored(TurnIndex(), [])

    def catch_up(self, stopped: Callable[[], bool]) -> None:
        """Take in what is new, newest chats first, until `stopped()`. Blocks. Raises `OSError` for the folder."""
        if not self._loaded:
            self.stored = recall_file.read(self._file) or self.stored
            self._loaded = True
        found = self._found()
        known = self._numbers()
        for chat_id in known.keys() - found.keys():
            self._drop(known[chat_id])
        changed = [
            chat_id
            for chat_id, stamp in found.items()
            if chat_id not in known or self._source(known[chat_id]).stamp != stamp
        ]
        for chat_id in sorted(changed, key=lambda chat_id: found[chat_id][3], reverse=True):
            if stopped():
                return
            self._read_chat(chat_id, known.get(chat_id), found[chat_id], stopped)
            self._make_room()
        if self._unsaved >= SAVE_AFTER:
            self.save()

    def close(self) -> None:
        """Keep what was read for the next start, when that is worth a file. Blocks."""
        if self._unsaved >= SAVE_AT_END:
            self.save()

    def save(self) -> None:
        """Write the index; a disk that refuses costs a longer start the next time, nothing else."""
        try:
            recall_file.write(self._file, self.stored)
        except OSError as error:
            logs.event(LOG, logging.WARNING, "recall.index_not_written", errno=error.errno)
        self._unsaved = 0

    def doubt(self, chat: int) -> None:
        """What the index says about this chat is not what its history says; it is read anew."""
        if source := self.stored.sources[chat]:
            source.stamp, source.offset, source.guard = UNREAD, 0, -1

    def _found(self) -> dict[str, tuple[int, int, int, int]]:
        """The stamp of each history."""
        stamps = {}
        try:
            entries = os.scandir(self._memory)
        except FileNotFoundError:
            return stamps
        with entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False) or not valid_chat_id(entry.name):
                    continue
                try:
                    stamps[entry.name] = _stamp(os.lstat(f"{entry.path}/{metadata.HISTORY}"))
                except OSError:
                    continue  # no history yet, or not for us
        return stamps

    def _numbers(self) -> dict[str, int]:
        return {source.chat_id: number for number, source in enumerate(self.stored.sources) if source}

    def _source(self, number: int) -> Source:
        source = self.stored.sources[number]
        assert source is not None
        return source

    def _drop(self, number: int) -> None:
        self.stored.index.forget(self.stored.index.of_chat(number))
        self.stored.sources[number] = None
        self._unsaved += 1

    def _read_chat(
        self, chat_id: str, number: int | None, stamp: tuple[int, int, int, int], stopped: Callable[[], bool]
    ) -> None:
        if number is None:
            number = len(self.stored.sources)
            self.stored.sources.append(Source(chat_id, UNREAD))
        try:
            with open_plain(self._memory / chat_id / metadata.HISTORY) as file:
                stamp = _stamp(os.fstat(file.fileno()))
                if self._read(file, number, stamp, stopped):
                    self._source(number).stamp = stamp
        except OSError as error:
            # Gone meanwhile, a link, or forbidden: it is tried again when something about it changes.
            logs.event(LOG, logging.WARNING, "recall.chat_unreadable", chat=chat_id, errno=error.errno)
            self.stored.index.forget(self.stored.index.of_chat(number))
            self.stored.sources[number] = Source(chat_id, stamp)

    def _read(
        self, file: BinaryIO, number: int, stamp: tuple[int, int, int, int], stopped: Callable[[], bool]
    ) -> bool:
        """Take in the turns that are new; False when it was stopped before the end."""
        source, index = self._source(number), self.stored.index
        if not _grew(file, source, stamp):
            index.forget(index.of_chat(number))
            source.offset, source.cursor, source.guard, source.open_turn = 0, 0, 0, -1
        elif source.open_turn >= 0:
            index.forget([source.open_turn])
            source.open_turn = -1
        source.stamp = (*stamp[:2], -1, 0)
        for turn in read_turns(file, offset=source.offset, cursor=source.cursor):
            if stopped():
                return False
            self._add(number, turn)
            if turn.closed:
                source.offset, source.cursor = turn.end, turn.last_cursor
                source.guard = -1
            self._breathe()
        source.guard = _guard(file, source.offset)
        return True

    def _add(self, number: int, turn: ReadTurn) -> None:
        index, source = self.stored.index, self._source(number)
        if not turn.tokens or len(index) >= MAX_TURNS:
            return
        place = Turn(number, turn.start, min(turn.end - turn.start, 0xFFFFFFFF), turn.cursor, turn.mark)
        added = index.add(place, turn.tokens)
        if not turn.closed:
            source.open_turn = added
        self._unsaved += 1

    def _make_room(self) -> None:
        """Free what forgotten turns take; past the bounds, the oldest quarter of the past is searched no more."""
        stored, index = self.stored, self.stored.index
        forgotten = len(index) - index.live
        full = index.entries > self._max_entries or len(index.postings) > MAX_WORDS
        if full and forgotten * 8 < len(index):
            oldest = sorted(
                (number for number in range(len(index)) if index.chat[number] != FORGOTTEN),
                key=lambda number: (self._source(index.chat[number]).stamp[3], index.start[number]),
            )
            index.forget(oldest[: max(1, len(oldest) // 4)])
            stored.dropped += max(1, len(oldest) // 4)
        elif not full and forgotten < max(256, index.live // 2):
            return
        fresh, moved = index.without_forgotten(self._breathe)
        for source in stored.sources:
            if source and source.open_turn >= 0:
                place = moved[source.open_turn]
                source.open_turn = -1 if place == FORGOTTEN else place
        self.stored = Stored(fresh, list(stored.sources), stored.dropped)
        self._unsaved += SAVE_AT_END

    def _breathe(self) -> None:
        """Let the event loop's thread have the interpreter, every few milliseconds."""
        if time.monotonic() - self._rested > SLICE:
            time.sleep(0)
            self._rested = time.monotonic()


def _stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _grew(file: BinaryIO, source: Source, stamp: tuple[int, int, int, int]) -> bool:
    """Whether what was read of this history still stands there, with more behind it."""
    return (
        source.stamp[:2] == stamp[:2]
        and (stamp[2] > source.stamp[2] or source.open_turn >= 0)
        and stamp[2] >= source.offset
        and source.guard == _guard(file, source.offset)
    )


def _guard(file: BinaryIO, offset: int) -> int:
    start = max(0, offset - GUARDED)
    file.seek(start)
    return zlib.crc32(file.read(offset - start))
