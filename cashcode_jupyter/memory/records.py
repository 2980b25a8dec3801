"""The records of a chat's ledger, and the message that each stands for.

The shapes are the seed's with fields added. What a live chat appends and what a later load reads pass the same
`message_of`, so a resumed chat sends the bytes that the live one sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.protocol.pictures import FILE_NAME
from cashcode_jupyter.storage.backwards import MAX_CURSOR

USER, CALLS, RESULT, ANSWER, SUMMARY, CLOSING = "user", "tool_calls", "tool", "assistant", "summary", "turn"
SUMMARY_PREFIX = "[Summary of the earlier conversation]\n"
INTERRUPTED_RESULT = (
    "Interrupted: CashCode stopped before the result of this call was stored. Its outcome is unknown; "
    "it was not run again."
)


@dataclass(frozen=True)
class CallRecord:
    """A tool call as it is stored; `arguments` is the JSON text that the model sent, already made valid."""

    id: str
    name: str
    arguments: str


def user(content: str, turn_id: str, message_id: str, model_content: str | None, extra: Mapping[str, Any]) -> dict:
    record = {"role": USER, "content": content, "turn_id": turn_id, "message_id": message_id}
    if model_content is not None:
        record["model_content"] = model_content
    return {**record, **extra, **record}


def calls(text: str, called: Sequence[CallRecord], turn_id: str, reasoning: str) -> dict[str, Any]:
    return {
        "role": CALLS,
        "content": f"[TOOL_CALLS: {', '.join(call.name for call in called)}]",
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in called
        ],
        "turn_id": turn_id,
        **({"text": text} if text else {}),
        **({"reasoning_content": reasoning} if reasoning else {}),
    }


def result(
    call_id: str,
    name: str,
    content: str,
    turn_id: str,
    *,
    ok: bool,
    duration_sec: float,
    spill: str | None,
    risk: str,
) -> dict[str, Any]:
    return {
        "role": RESULT,
        "content": content,
        "tool_call_id": call_id,
        "name": name,
        "turn_id": turn_id,
        "ok": ok,
        "duration_sec": duration_sec,
        "risk": risk,
        **({"spill": spill} if spill else {}),
    }


def answer(text: str, turn_id: str, reasoning: str, partial: bool) -> dict[str, Any]:
    return {
        "role": ANSWER,
        "content": text,
        "turn_id": turn_id,
        **({"reasoning_content": reasoning} if reasoning else {}),
        **({"partial": True} if partial else {}),
    }


def message_of(record: Mapping[str, Any], cursor: int) -> dict[str, Any] | None:
    """The OpenAI-shaped message of a record, None when the model has nothing to see in it.

    An empty tool result stays (its call needs one), an empty answer does not. A user's message has the names of its
    `pictures` beside its text, where there are some; whoever renders a request puts them in.
    """
    role = record.get("role")
    if role == USER:
        shown = record.get("model_content")
        content = shown if isinstance(shown, str) else text_of(record.get("content"))
        if not content:
            return None
        pictures = pictures_of(record)
        return {"role": "user", "content": content, **({"pictures": pictures} if pictures else {})}
    if role == RESULT:
        call_id = record.get("tool_call_id")
        content = text_of(record.get("content"))
        return {"role": "tool", "tool_call_id": str(call_id), "content": content} if call_id else None
    if role == CALLS and (made := calls_of(record, cursor)):
        message = {"role": "assistant", "content": text_of(record.get("text")), "tool_calls": made}
    elif role == ANSWER and (content := text_of(record.get("content"))).strip():
        message = {"role": "assistant", "content": content}
    elif role == SUMMARY and (content := text_of(record.get("content"))).strip():
        return {"role": "assistant", "content": SUMMARY_PREFIX + content}
    else:
        return None
    if reasoning := text_of(record.get("reasoning_content")):
        message["reasoning_content"] = reasoning
    return message


def pictures_of(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """`{file, label}` of each picture that came with a user's message; their bytes are in `attachments/`."""
    rows = record.get("context")
    return [
        {"file": file, "label": text_of(row.get("label"))}
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("kind") == "image"
        if isinstance(file := row.get("file"), str) and FILE_NAME.fullmatch(file)
    ]


def calls_of(record: Mapping[str, Any], cursor: int) -> list[dict[str, Any]]:
    """The calls of a record in OpenAI's shape; entries without a name are left out, missing ids are made."""
    stored = record.get("tool_calls")
    made = []
    for number, call in enumerate(stored if isinstance(stored, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments or {}, ensure_ascii=False)
        made.append(
            {
                "id": str(call.get("id") or f"call_{cursor}_{number}"),
                "type": "function",
                "function": {"name": function["name"], "arguments": arguments},
            }
        )
    return made


def seq_of(record: Mapping[str, Any]) -> int | None:
    """The event number that a closing record kept; None for other records and for what no chat can count to."""
    value = record.get("last_seq")
    if record.get("role") == CLOSING and type(value) is int and 0 <= value < MAX_CURSOR:
        return value
    return None


def text_of(value: object) -> str:
    """Content as text: a string, the text parts of a list, or JSON of whatever a hand put there."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)]
        if parts:
            return "".join(parts)
    return json.dumps(value, ensure_ascii=False)
