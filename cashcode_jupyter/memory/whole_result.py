"""The whole of one tool result: its spill file where there is one, else what the history holds."""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.records import RESULT, text_of
from cashcode_jupyter.protocol.errors import NotFound
from cashcode_jupyter.storage.backwards import read_backwards
from cashcode_jupyter.tools.results import SPILL_NAME

MAX_BYTES = 5 << 20
MAX_RECORDS = 100_000
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def read_result(history: Path, call_id: str) -> tuple[str, bool]:
    """The newest result of `call_id` and whether it was cut at 5 MiB; blocks. Raises `NotFound`, `OSError`."""
    for entry in islice(read_backwards(history), MAX_RECORDS):
        if entry.record.get("role") == RESULT and entry.record.get("tool_call_id") == call_id:
            return _spilled(history.parent, entry.record) or (text_of(entry.record.get("content")), False)
    raise NotFound(_("There is no such result in this chat."))


def _spilled(chat: Path, record: dict[str, Any]) -> tuple[str, bool] | None:
    """The file that the record names, when it is a plain file in the chat's own folder."""
    spill = record.get("spill")
    if not isinstance(spill, str) or not SPILL_NAME.fullmatch(spill):
        return None
    file = chat / spill
    if file.parent.is_symlink() or file.is_symlink():
        return None
    try:
        fd = os.open(file, os.O_RDONLY | _NOFOLLOW)
    except OSError:
        return None  # removed by hand, or a link: the history has its beginning and its end
    with os.fdopen(fd, "rb") as opened:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = opened.read(MAX_BYTES + 1)
    return data[:MAX_BYTES].decode("utf-8", "replace"), len(data) > MAX_BYTES
