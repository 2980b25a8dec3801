"""A chat's metadata.json: its title, its last model, and whatever else is in there, which is kept as it is.

A broken file costs only itself: it is moved aside and reported, the chat opens without a title.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.storage import atomic

LOG = logs.log("chats")
FILE = "metadata.json"
HISTORY = "history.jsonl"
MAX_TITLE = 500


def read(folder: Path) -> dict[str, Any] | None:
    """The metadata of the chat in `folder`, {} when there is none, None when the file is broken."""
    path = folder / FILE
    if path.exists() and not path.is_file():
        return None  # opening a pipe would wait for ever
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError, IsADirectoryError):
        return None
    return value if isinstance(value, dict) else None


def read_or_move_aside(folder: Path) -> dict[str, Any]:
    """As `read`, for the one who holds the chat's lease: a broken file is renamed to `metadata.json.corrupt`."""
    value = read(folder)
    if value is None:
        (folder / FILE).replace(folder / f"{FILE}.corrupt")
        logs.event(LOG, logging.WARNING, "chat.metadata_broken", chat=folder.name)
    return value or {}


def update(folder: Path, **changes: Any) -> None:
    """Set fields and keep all others, atomically."""
    value = read_or_move_aside(folder) | changes
    atomic.replace(folder / FILE, json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace"))


def title_of(value: dict[str, Any] | None) -> str:
    title = (value or {}).get("title")
    return title.strip() if isinstance(title, str) else ""


def llm_of(value: dict[str, Any] | None) -> ModelChoice | None:
    llm = (value or {}).get("llm")
    if llm is None:
        return None
    try:
        return ModelChoice.model_validate(llm)
    except ValidationError:
        return None


def checked_title(title: str) -> str:
    """The title as it is stored; raises `BadSetting` when there is nothing in it or far too much."""
    title = "".join(sign for sign in " ".join(title.split()) if sign.isprintable())
    if not title:
        raise BadSetting(_("A chat's title cannot be blank."))
    if len(title) > MAX_TITLE:
        raise BadSetting(_("A chat's title has at most {count} characters.").format(count=MAX_TITLE))
    return title


def changed_at(folder: Path) -> int | None:
    """When the chat in `folder` last changed, in ns of Unix time; None when no chat is in it."""
    for name in (HISTORY, FILE):
        try:
            return (folder / name).stat().st_mtime_ns
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
    return None


def iso(ns: int) -> str:
    """Local time as ISO 8601 with offset, to the second; a stamp that no calendar has counts as 1970."""
    try:
        moment = datetime.fromtimestamp(ns / 1e9).astimezone()
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0).astimezone()
    return moment.isoformat(timespec="seconds")
