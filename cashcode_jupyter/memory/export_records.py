"""A chat as its records, one JSON object a line: what an import brings back whole, without secrets.

The first line says what the file is. Whole tool results and pictures that lie beside a history are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.storage.forwards import read_forwards

ROLE, FORMAT, VERSION = "export", "cashcode-chat", 1


def records(chat_id: str, title: str, llm: ModelChoice | None, history: Path, redactor: Redactor) -> Iterator[str]:
    """The lines, each with its newline; blocks. Lines that hold no record are left out. Raises `OSError`."""
    head = {"role": ROLE, "format": FORMAT, "version": VERSION, "chat_id": chat_id, "title": title}
    yield json.dumps(head | ({"llm": llm.model_dump()} if llm else {}), ensure_ascii=False) + "\n"
    with history.open("rb") as file:
        for line in read_forwards(file):
            if line.record is not None:
                yield json.dumps(_clean(line.record, redactor), ensure_ascii=False) + "\n"


def _clean(record: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Arguments are JSON inside a string, and must still be JSON afterwards."""
    clean = redactor.value(record)
    stored, shown = record.get("tool_calls"), clean.get("tool_calls")
    for call, kept in zip(stored if isinstance(stored, list) else (), shown or (), strict=False):
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            kept["function"]["arguments"] = _clean_json(arguments, redactor)
    return clean


def _clean_json(text: str, redactor: Redactor) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redactor(text)
    clean = redactor.value(value)
    return text if clean == value else json.dumps(clean, ensure_ascii=False)
