"""The folders of all chats: which there are, the list of them, copies for a branch, and removal.

A folder is a chat when its name is a chat id and it holds a history or metadata; everything else in `memory/` is
left alone. What is half made or half removed has a name that begins with a dot, which no chat has.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import metadata
from cashcode_jupyter.memory.attachments import FOLDER
from cashcode_jupyter.memory.records import USER
from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.protocol.errors import BadFrame, Conflict, NotFound
from cashcode_jupyter.storage.atomic import make_folder, sync_folder
from cashcode_jupyter.storage.backwards import read_backwards

LOG = logs.log("chats")
COPY_BLOCK = 1 << 20
UNFINISHED = shutil.ignore_patterns(".*.tmp")
TRASH, HALF_MADE = ".trash-", ".branch-"


@dataclass(frozen=True)
class SessionRow:
    """One chat in the list; `updated_at` is ISO 8601 with offset."""

    chat_id: str
    title: str
    updated_at: str


def list_page(memory: Path, *, limit: int, before: str | None) -> tuple[list[SessionRow], str | None]:
    """The newest chats, and the mark of the next page if there is one; blocks: a `stat` for each chat.

    Raises `BadFrame` for a mark that is none of ours.
    """
    mark = _read_mark(before) if before else None
    found = sorted(_changed_chats(memory), reverse=True)
    rest = found if mark is None else [chat for chat in found if chat < mark]
    shown = rest[: max(limit, 1)]
    rows = [SessionRow(chat_id, _title(memory / chat_id), metadata.iso(changed)) for changed, chat_id in shown]
    return rows, _mark(*shown[-1]) if len(rest) > len(shown) else None


def branch(source: Path, cursor: int, target: Path) -> None:
    """Make `target` a chat with what `source` holds before the user message at `cursor`; blocks.

    Raises `NotFound` when there is no user message at `cursor`, `Conflict` when `target` is there already.
    """
    end = _start_of_user_message(source / metadata.HISTORY, cursor)
    if target.exists():
        raise Conflict(_("There is a chat with this id already."))
    fresh = target.with_name(f"{HALF_MADE}{secrets.token_hex(8)}")
    try:
        make_folder(fresh)
        _copy_start(source / metadata.HISTORY, end, fresh / metadata.HISTORY)
        if value := metadata.read(source):
            metadata.update(fresh, **value)
        for kept in ("results", FOLDER):
            if (source / kept).is_dir():
                shutil.copytree(source / kept, fresh / kept, copy_function=_link, ignore=UNFINISHED)
        fresh.rename(target)
        sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def remove(folder: Path) -> None:
    """Take a chat out of sight at once; `shred` deletes it."""
    folder.rename(folder.with_name(f"{TRASH}{secrets.token_hex(8)}"))
    sync_folder(folder.parent)


def shred(memory: Path) -> None:
    """Delete what `remove` took away, now or before a crash; what cannot be deleted now is tried again later."""
    for trash in memory.glob(f"{TRASH}*"):
        shutil.rmtree(trash, ignore_errors=True)


def _changed_chats(memory: Path) -> list[tuple[int, str]]:
    try:
        entries = list(os.scandir(memory))
    except FileNotFoundError:
        return []
    names = [entry.name for entry in entries if valid_chat_id(entry.name) and entry.is_dir(follow_symlinks=False)]
    return [(changed, name) for name in names if (changed := metadata.changed_at(memory / name)) is not None]


def _title(folder: Path) -> str:
    """One chat that cannot be read has no title; the others keep theirs."""
    try:
        return metadata.title_of(metadata.read(folder))
    except OSError as error:
        logs.event(LOG, logging.WARNING, "chat.metadata_unreadable", chat=folder.name, errno=error.errno)
        return ""


def _mark(changed: int, chat_id: str) -> str:
    return base64.urlsafe_b64encode(f"{changed} {chat_id}".encode()).decode().rstrip("=")


def _read_mark(text: str) -> tuple[int, str]:
    try:
        changed, chat_id = (
            base64.b64decode(f"{text}{'=' * (-len(text) % 4)}", b"-_", validate=True).decode().split()
        )
        return int(changed), chat_id
    except (ValueError, binascii.Error):
        raise BadFrame(_("The list's position marker is not valid. Load the list again.")) from None


def _start_of_user_message(history: Path, cursor: int) -> int:
    for entry in read_backwards(history, before=cursor + 1):
        if entry.cursor != cursor:
            break
        if entry.record.get("role") == USER:
            return entry.offset
    raise NotFound(_("There is no message of yours at this position in the chat."))


def _copy_start(source: Path, end: int, target: Path) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        while end and (block := reader.read(min(COPY_BLOCK, end))):
            writer.write(block)
            end -= len(block)
        writer.flush()
        os.fsync(writer.fileno())


def _link(source: str, target: str) -> None:
    """Results and pictures are never changed, so two chats can share the bytes."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)
