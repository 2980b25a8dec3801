"""A chat as a session file of Claude Code, which its `--resume` and readers of such files load.

The fields are those that both checked versions of the client need: a chain of parents, rising times, an id for each
message, every call followed by its result. Nothing of this machine goes in but the folder that the caller names.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from cashcode_jupyter.memory.export_steps import Call, Message, Step

VERSION = "2.1.332"
NO_RESULT = "No result of this call was stored."


def session_id(chat_id: str) -> str:
    """The session's id, always the same for a chat: the client wants the file to be named `<id>.jsonl`."""
    return str(_uuid(chat_id, "session"))


def session(chat_id: str, title: str, model: str, cwd: str, chat: Iterable[Step]) -> Iterator[str]:
    """The lines, each with its newline. `model` is named in every answer, `cwd` in every line."""
    chain = _Chain(chat_id, model or "unknown", cwd)
    for _key, group in groupby(chat, key=lambda step: (step.cursor, isinstance(step, Message))):
        yield from chain.of(list(group))
    if title:
        yield _line({"type": "custom-title", "customTitle": title, "sessionId": chain.session})


class _Chain:
    def __init__(self, chat_id: str, model: str, cwd: str) -> None:
        self.session = session_id(chat_id)
        self._chat_id = chat_id
        self._model = model
        self._cwd = cwd
        self._parent: str | None = None
        self._made = 0
        self._time = datetime(2020, 1, 1, tzinfo=UTC)
        self._call_ids: set[str] = set()

    def of(self, group: list[Step]) -> Iterator[str]:
        """A message, or the calls of one record: all the calls first, then all the results."""
        calls: list[tuple[str, Call]] = []
        for step in group:
            message_id = f"msg_{step.cursor}"
            if isinstance(step, Call):
                call_id = self._call_id(step.id)
                calls.append((call_id, step))
                name = re.sub(r"[^A-Za-z0-9_-]", "_", step.name)[:64] or "_"
                block = {"type": "tool_use", "id": call_id, "name": name, "input": step.arguments}
                yield self._assistant(message_id, block, "tool_use", step.timestamp)
            elif not step.text.strip():
                continue
            elif step.role == "user":
                yield self._record("user", {"role": "user", "content": step.text}, step.timestamp)
            else:
                yield self._assistant(message_id, {"type": "text", "text": step.text}, "end_turn", step.timestamp)
        for call_id, call in calls:
            failed = not call.ok or call.result is None
            block = {
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": NO_RESULT if call.result is None else call.result or "(no output)",
                "is_error": failed,
            }
            content = block["content"]
            extra = f"Error: {content}" if failed else {"stdout": content}
            message = {"role": "user", "content": [block]}
            yield self._record("user", message, call.timestamp, toolUseResult=extra)

    def _assistant(self, message_id: str, block: dict[str, Any], stop_reason: str, when: str) -> str:
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return self._record("assistant", message, when)

    def _record(self, kind: str, message: dict[str, Any], when: str, **extra: Any) -> str:
        self._made += 1
        made = str(_uuid(self._chat_id, str(self._made)))
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self._cwd,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": "",
            "type": kind,
            "message": message,
            "uuid": made,
            "timestamp": self._later(when),
        }
        self._parent = made
        return _line(record | extra)

    def _later(self, when: str) -> str:
        """The minute of the record, or a little after the time before: the client orders by it."""
        try:
            given = datetime.strptime(when, "%Y-%m-%d %H:%M").astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            given = self._time
        self._time = max(given, self._time + timedelta(milliseconds=1))
        return self._time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._time.microsecond // 1000:03d}Z"

    def _call_id(self, call_id: str) -> str:
        clean = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:64] or "call"
        number, unique = 1, clean
        while unique in self._call_ids:
            number += 1
            unique = f"{clean}_{number}"
        self._call_ids.add(unique)
        return unique


def _uuid(chat_id: str, name: str) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.blake2b(f"{chat_id}/{name}".encode(), digest_size=16).digest(), version=4)


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
