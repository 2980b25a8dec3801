"""Takes chats in from elsewhere: a `memory/` folder (the seed's or ours), or one chat's JSONL.

Nothing that is here is overwritten: a chat whose id is taken comes under a fresh one, one that is here already is
left out. Only what was read and understood is written; links, special files and archives are not opened.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import importing_files, metadata
from cashcode_jupyter.memory.folders import HALF_MADE
from cashcode_jupyter.memory.importing_files import BadImport, folder_entries, read_small
from cashcode_jupyter.memory.importing_history import ImportedHistory, read_history
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.storage import atomic
from cashcode_jupyter.storage.atomic import make_folder, storage_errors, sync_folder

__all__ = ["BadImport", "ImportReport", "import_chats"]

MAX_CHATS = 20_000
MAX_DOCUMENT = 1 << 20
DOCUMENTS = ("MEMORY.md", "SOUL.md")


@dataclass
class ImportReport:
    """What came in: `imported` maps ids there to ids here, `unchanged` were here already.

    `refused` maps names to a sentence; `broken_lines` counts lines of imported chats that held no record.
    `documents` are MEMORY.md and SOUL.md where they were taken, `kept` where there is one here already.
    """

    imported: dict[str, str] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    broken_lines: int = 0
    documents: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


async def import_chats(paths: Paths, source: Path) -> ImportReport:
    """Import a folder of chats or one `.jsonl` file; all of it in a thread.

    Raises `BadImport` when `source` is nothing of the kind, `StorageError`, `ReadOnly`. What came in before an
    error stays: each chat is there whole or not at all.
    """
    return await asyncio.to_thread(_import, paths, source)


def _import(paths: Paths, source: Path) -> ImportReport:
    report = ImportReport()
    with storage_errors(_("the import")):
        if source.is_symlink():
            raise BadImport(_("The import is a link. Name the folder or file that it leads to."))
        if source.is_dir():
            _import_folder(paths, source, report)
        elif source.suffix == ".jsonl":
            _import_chat(paths, source.stem, source, None, report)
            if report.refused:
                raise BadImport(next(iter(report.refused.values())))
        elif source.exists():
            raise BadImport(_("Only a folder of chats or a .jsonl file can be imported. Unpack an archive first."))
        else:
            raise BadImport(_("There is nothing to import at this place."))
    return report


def _import_folder(paths: Paths, source: Path, report: ImportReport) -> None:
    if not (source / metadata.HISTORY).exists() and (source / "memory").is_dir():
        source = source / "memory"
    if paths.memory.exists() and source.samefile(paths.memory):
        raise BadImport(_("This is the folder that CashCode itself keeps its chats in."))
    if (source / metadata.HISTORY).exists():
        _import_chat(paths, source.name, source / metadata.HISTORY, source, report)
        return
    chats = 0
    for entry in folder_entries(source):
        if entry.name in DOCUMENTS:
            _refusing(report, entry.name, lambda name=entry.name: _import_document(paths, source, name, report))
        elif entry.is_symlink():
            report.refused[_shown(entry.name)] = _("Links are not followed.")
        elif entry.is_dir() and not entry.name.startswith("."):
            chats += 1
            if chats > MAX_CHATS:
                raise BadImport(_("The folder has more than {count} chats.").format(count=MAX_CHATS))
            _import_chat(paths, entry.name, source / entry.name / metadata.HISTORY, source / entry.name, report)
    if not chats and not report.documents and not report.kept:
        raise BadImport(_("There are no chats in this folder."))


def _import_chat(paths: Paths, name: str, history: Path, folder: Path | None, report: ImportReport) -> None:
    _refusing(report, name, lambda: _take_chat(paths, name, history, folder, report))


def _refusing(report: ImportReport, name: str, work: Callable[[], None]) -> None:
    """One thing that cannot be taken is in the report; the others come in."""
    try:
        work()
    except BadImport as error:
        report.refused[_shown(name)] = error.detail


def _take_chat(paths: Paths, name: str, history: Path, folder: Path | None, report: ImportReport) -> None:
    if folder is not None and not valid_chat_id(name):
        raise BadImport(_("The folder's name is no chat id (letters, digits, _, : and -, at most 64)."))
    make_folder(paths.memory)
    half_made = paths.memory / f"{HALF_MADE}{secrets.token_hex(8)}"
    make_folder(half_made)
    try:
        found = read_history(history, half_made / metadata.HISTORY)
        wanted = found.chat_id or name
        wanted = wanted if valid_chat_id(wanted) else secrets.token_hex(8)
        if _is_here(paths, wanted, half_made / metadata.HISTORY):
            report.unchanged.append(wanted)
            shutil.rmtree(half_made, ignore_errors=True)
            return
        _describe(half_made, folder, found)
        if folder is not None:
            importing_files.copy_beside(folder, half_made)
        chat_id = _place(paths, half_made, wanted)
    except BaseException:
        shutil.rmtree(half_made, ignore_errors=True)
        raise
    report.imported[_shown(name)] = chat_id
    report.broken_lines += found.broken_lines


def _describe(half_made: Path, folder: Path | None, found: ImportedHistory) -> None:
    """Title and model, from the file beside the history or the export's first line; the rest stays behind."""
    about: dict[str, Any] = {"title": found.title, "llm": found.llm}
    if folder is not None:
        about = _metadata(folder) or about
    changes: dict[str, Any] = {}
    with suppress(BadSetting):  # without a title that can be shown the chat comes in all the same
        changes["title"] = metadata.checked_title(metadata.title_of(about)[: metadata.MAX_TITLE])
    if llm := metadata.llm_of(about):
        changes["llm"] = llm.model_dump()
    if changes:
        metadata.update(half_made, **changes)


def _metadata(folder: Path) -> dict[str, Any] | None:
    try:
        read_small(folder / metadata.FILE, MAX_DOCUMENT)
    except BadImport:
        return None
    return metadata.read(folder)


def _place(paths: Paths, half_made: Path, wanted: str) -> str:
    """Give the chat its name; a taken one is followed by a fresh ending."""
    sync_folder(half_made)
    chat_id = wanted
    while True:
        target = paths.chat(chat_id)
        if not os.path.lexists(target):
            try:
                half_made.rename(target)
                break
            except (FileExistsError, NotADirectoryError):
                pass
            except OSError:
                if not os.path.lexists(target):
                    raise
        chat_id = f"{wanted[:55]}-{secrets.token_hex(4)}"
    sync_folder(paths.memory)
    return chat_id


def _is_here(paths: Paths, chat_id: str, history: Path) -> bool:
    """Whether the chat here begins with all that is to come in."""
    here = paths.chat(chat_id) / metadata.HISTORY
    if not here.is_file() or here.is_symlink() or here.stat().st_size < history.stat().st_size:
        return False
    with history.open("rb") as new, here.open("rb") as old:
        while block := new.read(1 << 20):
            if old.read(len(block)) != block:
                return False
    return True


def _import_document(paths: Paths, source: Path, name: str, report: ImportReport) -> None:
    text = read_small(source / name, MAX_DOCUMENT)
    target = paths.memory / name
    if os.path.lexists(target):
        report.kept.append(name)
        return
    atomic.replace(target, text.encode())
    report.documents.append(name)


def _shown(name: str) -> str:
    """A foreign name as it may stand in a report."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:100].encode("utf-8", "replace").decode())
