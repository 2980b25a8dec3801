from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cashcode_jupyter.memory.chat import CallRecord, ChatLog
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(data=tmp_path / "data", config=tmp_path / "config")


@pytest.fixture
async def sessions(paths: Paths):
    made = Sessions(paths)
    yield made
    await made.aclose()


@pytest.fixture
def write_history(paths: Paths) -> Callable[..., Path]:
    """Writes a chat's history.jsonl by hand, as the seed or an editor would."""

    def write(chat_id: str, *records: dict | str) -> Path:
        folder = paths.chat(chat_id)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [
            record if isinstance(record, str) else json.dumps({"timestamp": "2026-07-01 10:00"} | record)
            for record in records
        ]
        (folder / "history.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return folder

    return write


def run_turn(chat: ChatLog, number: int, *, tools: int = 0, close: bool = True) -> int:
    """A whole turn with `tools` calls in one round; returns the user message's cursor."""
    turn_id = f"t{number}"
    cursor = chat.append_user(f"question {number}", turn_id=turn_id, message_id=f"m{number}")
    if tools:
        called = [CallRecord(f"c{number}_{i}", "read_file", '{"path": "a.txt"}') for i in range(tools)]
        chat.append_calls("I look.", called, turn_id=turn_id)
        for call in called:
            chat.append_result(call.id, call.name, "text", turn_id=turn_id, ok=True, duration_sec=0.1)
    chat.append_assistant(f"answer {number}", turn_id=turn_id)
    if close:
        end(chat, turn_id, last_seq=number * 10)
    return cursor


def end(chat: ChatLog, turn_id: str, *, last_seq: int = 10) -> None:
    chat.end_turn(
        turn_id,
        stop_reason="answered",
        usage={"prompt_tokens": 5, "completion_tokens": 2, "estimated": False},
        duration_sec=0.5,
        last_seq=last_seq,
        tool_calls=0,
    )
