"""A chat as people see it: one bubble for each message, tool records folded into the assistant's.

Read backwards a page at a time, without a lease. Summaries and receipts are not shown. `content` is all that was
said; where there was more than one text, `parts` has it in its true order: `{kind: text|reasoning, text}` and
`{kind: call, call_id}`. `outcome` tells how a turn ended that was not answered: `{stop_reason, error?}`, on the
assistant's bubble or, where there is none, on the user's.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any

from cashcode_jupyter.memory.records import ANSWER, CALLS, CLOSING, RESULT, USER, calls_of, text_of
from cashcode_jupyter.storage.backwards import Entry, read_backwards

MAX_RECORDS = 10_000
GAP = "\n\n"
PREVIEW = 2000
RECEIPT = re.compile(r"\s*\[Skill (loaded|resource read): [^\]\n]*\]\s*")
ATTACHED = ("mentioned_skills", "selected_mcp_connectors", "context")


def page(history: Path, *, before: int | None, limit: int) -> list[dict[str, Any]]:
    """The `limit` newest bubbles (at least one) whose cursor is below `before`, oldest first; blocks.

    A bubble's `cursor` is that of its first record, so the cursor of a page's first bubble is the `before` of the
    page that precedes it. Raises `OSError`.
    """
    shown: list[dict[str, Any]] = []
    group: list[Entry] = []
    closing: dict[str, Any] = {}
    for entry in islice(read_backwards(history, before=before), MAX_RECORDS):
        role = entry.record.get("role")
        if role in (USER, CLOSING):
            answers = _assistant(group, closing)
            shown.extend(answers)
            group = []
            if role == USER:
                shown.append(_user(entry) | ({} if answers else _outcome_of(closing)))
            closing = entry.record if role == CLOSING else {}
        elif role in (CALLS, RESULT, ANSWER):
            group.append(entry)
        if len(shown) >= limit:
            break
    else:
        shown.extend(_assistant(group, closing))
    return shown[: max(limit, 1)][::-1]


def _user(entry: Entry) -> dict[str, Any]:
    bubble = {"cursor": entry.cursor, "role": "user", "content": text_of(entry.record.get("content"))}
    for name in ATTACHED:
        if value := entry.record.get(name):
            bubble[name] = value
    if isinstance(at := entry.record.get("timestamp"), str) and at:
        bubble["at"] = at
    return bubble


def _assistant(newest_first: list[Entry], closing: dict[str, Any]) -> list[dict[str, Any]]:
    """The bubble of what the assistant did and said between two messages; none when there was nothing."""
    words: list[str] = []
    parts: list[dict[str, str]] = []
    rows: list[dict[str, Any]] = []
    for entry in reversed(newest_first):
        record = entry.record
        if record["role"] == RESULT:
            call_id = str(record.get("tool_call_id"))
            if row := next((row for row in reversed(rows) if row["call_id"] == call_id), None):
                row.update(_outcome(record))
            continue
        calls = [_row(call) for call in calls_of(record, entry.cursor)] if record["role"] == CALLS else []
        text = text_of(record.get("text" if record["role"] == CALLS else "content"))
        if record["role"] == ANSWER and RECEIPT.fullmatch(text):
            continue
        words.append(text)
        rows.extend(calls)
        parts += [
            {"kind": kind, "text": said}
            for kind, said in (("reasoning", text_of(record.get("reasoning_content"))), ("text", text))
            if said
        ]
        parts += [{"kind": "call", "call_id": row["call_id"]} for row in calls]
    content = GAP.join(part for part in words if part)
    if not rows and not content.strip():
        return []
    bubble = {"cursor": newest_first[-1].cursor, "role": "assistant", "content": content}
    if [part["kind"] for part in parts] != ["text"]:
        bubble["parts"] = parts
    if rows:
        bubble["tool_calls"] = rows
    if isinstance(usage := closing.get("usage"), dict) and usage:
        bubble["usage"] = usage
    return [bubble | _outcome_of(closing)]


def _outcome_of(closing: dict[str, Any]) -> dict[str, Any]:
    """`outcome` of a turn that ended otherwise than with an answer; `error` is a code of the protocol."""
    reason, error = closing.get("stop_reason"), closing.get("error")
    if not isinstance(reason, str) or reason in ("", "answered"):
        return {}
    outcome = {"stop_reason": reason}
    return {"outcome": outcome | ({"error": error} if isinstance(error, str) and error else {})}


def _row(call: dict[str, Any]) -> dict[str, Any]:
    """A call that has no result yet."""
    return {
        "call_id": call["id"],
        "tool_name": call["function"]["name"],
        "arguments": _arguments(call["function"]["arguments"]),
        "ok": False,
        "result": "",
        "truncated": False,
        "duration_sec": 0.0,
        "risk": "read",
    }


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"unparsed": text[:PREVIEW]}


def _outcome(record: dict[str, Any]) -> dict[str, Any]:
    content = text_of(record.get("content"))
    spill, ok, seconds = (record.get(name) for name in ("spill", "ok", "duration_sec"))
    outcome = {
        # The seed stored no outcome; its failures begin with this word.
        "ok": ok if isinstance(ok, bool) else not content.startswith("Error"),
        "result": content[:PREVIEW],
        "truncated": len(content) > PREVIEW or bool(spill),
        "duration_sec": seconds if isinstance(seconds, (int, float)) else 0.0,
        "risk": text_of(record.get("risk")) or "read",
    }
    return outcome | ({"spill": spill} if isinstance(spill, str) and spill else {})
