"""A foreign history, read line by line and written as one that every reader here understands.

Records stay as they are. Lines that hold none are left out and counted; cursors that do not grow are given anew,
and with them what points at them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.export_records import FORMAT, ROLE, VERSION
from cashcode_jupyter.memory.importing_files import BadImport, open_plain
from cashcode_jupyter.memory.records import ANSWER, CALLS, CLOSING, RESULT, SUMMARY, USER
from cashcode_jupyter.storage.backwards import own_cursor
from cashcode_jupyter.storage.forwards import read_forwards

MAX_HISTORY = 1 << 30
SNIFFED = 4096
ROLES = {USER, CALLS, RESULT, ANSWER, SUMMARY, CLOSING}


@dataclass
class ImportedHistory:
    """What was read. `chat_id`, `title` and `llm` are from the first line of an export of ours."""

    records: int = 0
    broken_lines: int = 0
    chat_id: str = ""
    title: str = ""
    llm: object = None


def read_history(source: Path, target: Path) -> ImportedHistory:
    """Read `source` and write `target`, durable when this returns; blocks.

    Raises `BadImport` when `source` is no plain file, too large, not UTF-8, of a newer version, or without any
    record of a chat.
    """
    found = ImportedHistory()
    last = 0
    moved: dict[int, int] = {}
    with open_plain(source, MAX_HISTORY) as file, target.open("xb") as out:
        start = file.read(SNIFFED)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")) or start.count(b"\0") > len(start) // 3:
            raise BadImport(_("It is not UTF-8 text."))
        for line in read_forwards(file):
            record = line.record
            role = record.get("role") if record else None
            if record is None or not isinstance(role, str):
                found.broken_lines += 1
                continue
            if role == ROLE:
                _take_head(record, found)
                continue
            if role in ROLES:
                found.records += 1
            own = own_cursor(record)
            cursor = own if own is not None and own > last else last + 1
            if cursor != own:
                moved[line.cursor] = cursor
                record["cursor"] = cursor
            kept = record.get("keep_from_cursor")
            changed = cursor != own or (role == SUMMARY and type(kept) is int and kept in moved)
            if role == SUMMARY and type(kept) is int and kept in moved:
                record["keep_from_cursor"] = moved[kept]
            last = cursor
            out.write(
                (_encoded(record) if changed or b"\0" in line.data else line.data.lstrip(b"\xef\xbb\xbf")) + b"\n"
            )
        out.flush()
        os.fsync(out.fileno())
    if not found.records:
        raise BadImport(_("There is no chat in it: not one line is a record of a chat in UTF-8 JSON."))
    return found


def _take_head(record: dict[str, Any], found: ImportedHistory) -> None:
    version = record.get("version")
    if record.get("format") != FORMAT or type(version) is not int or version > VERSION:
        raise BadImport(_("It is an export of another program or of a newer CashCode."))
    chat_id, title = record.get("chat_id"), record.get("title")
    found.chat_id = chat_id if isinstance(chat_id, str) else ""
    found.title = title if isinstance(title, str) else ""
    found.llm = record.get("llm")


def _encoded(record: dict[str, Any]) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(record).encode()
