"""Opens what an import names: plain files of a bounded size and nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.attachments import FOLDER, Attachments
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.protocol.pictures import MAX_PICTURE_BYTES, Picture, suffix_of
from cashcode_jupyter.storage import forwards

MAX_ENTRIES = 100_000
MAX_RESULT = 64 << 20
MAX_RESULTS = 1 << 30
RESULTS = "results"
_RESULT = re.compile(r"[A-Za-z0-9_-]{1,80}\.txt")


class BadImport(BadSetting):
    """What was to be imported is not what an import takes; nothing of it came in."""


def folder_entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; a folder without end is refused."""
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.append(entry)
            if len(found) > MAX_ENTRIES:
                raise BadImport(_("The folder has more than {count} entries.").format(count=MAX_ENTRIES))
    return sorted(found, key=lambda entry: entry.name)


def open_plain(path: Path, most: int) -> BinaryIO:
    """A plain file of at most `most` bytes, opened for reading; raises `BadImport`."""
    try:
        file = forwards.open_plain(path)
    except FileNotFoundError:
        raise BadImport(_("There is no history.jsonl in it.")) from None
    except OSError:
        raise BadImport(_("It is a link or no plain file, or it may not be read.")) from None
    if os.fstat(file.fileno()).st_size > most:
        file.close()
        raise BadImport(_("It is larger than {count} MB.").format(count=most >> 20))
    return file


def read_small(path: Path, most: int) -> str:
    """A text file; raises `BadImport` when it is no UTF-8 or holds NUL bytes."""
    with open_plain(path, most) as file:
        data = file.read(most + 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadImport(_("It is not UTF-8 text.")) from None
    if "\0" in text:
        raise BadImport(_("It is not UTF-8 text."))
    return text


def copy_beside(source: Path, target: Path) -> None:
    """Copy the whole tool results and the pictures of a chat. What is neither, by name or content, stays behind."""
    room = MAX_RESULTS
    for path in _files(source / RESULTS):
        if not _RESULT.fullmatch(path.name):
            continue
        try:
            with open_plain(path, min(MAX_RESULT, room)) as file:
                data = file.read(MAX_RESULT)
        except BadImport:
            continue
        room -= len(data)
        (target / RESULTS).mkdir(exist_ok=True)
        (target / RESULTS / path.name).write_bytes(data)
    for path in _files(source / FOLDER):
        try:
            with open_plain(path, MAX_PICTURE_BYTES) as file:
                data = file.read(MAX_PICTURE_BYTES)
        except BadImport:
            continue
        suffix = suffix_of(data)
        if suffix and Picture(suffix, data).file == path.name:
            Attachments(target).put(Picture(suffix, data))


def _files(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [folder / entry.name for entry in folder_entries(folder) if entry.is_file(follow_symlinks=False)]
