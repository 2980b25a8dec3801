"""`outgoing`: the one function that every request passes, so that any strict server accepts its messages.

Pure, deterministic and idempotent. Each tool call has exactly one result, adjacent and in call order; there is no
orphan, no empty assistant, no two users in a row, no lone surrogate; the conversation begins with a user and ends
with a user or a tool result. Legal histories pass unchanged, so request k stays a prefix of request k+1. Pictures
are placeholders here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

from cashcode_jupyter.agent import pictures
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.llm.surrogates import mend

Message = dict[str, Any]

MISSING_RESULT = "The result of this call is not available."
EARLIER = "(The conversation before this point is not shown.)"
GO_ON = "(Please go on.)"


def outgoing(
    messages: Iterable[Message], profile: Profile, gallery: pictures.Gallery = MappingProxyType({})
) -> list[Message]:
    """The messages of a request, from a history of OpenAI-shaped messages, by the rules of one model server.

    `gallery` has the pictures that may go out; `pictures.filled` puts them into what `encode` gives.
    """
    system, rest = _split_system(messages)
    rest = pictures.told(rest, pictures.shown(rest, profile, gallery))
    made = ended(legal(rest, set()))
    if made[0]["role"] != "user":
        made.insert(0, {"role": "user", "content": EARLIER})
    if system:
        made.insert(0, {"role": "system", "content": system})
    return [dress(message, profile) for message in made]


def legal(messages: Sequence[Message], used: set[str]) -> list[Message]:
    """Messages (no system ones) with each call answered and nobody speaking twice; `used` are ids before them."""
    return _alternate(_pair(messages, used))


def ended(messages: list[Message]) -> list[Message]:
    """Legal messages with an end that a model can answer."""
    if not messages:
        return [{"role": "user", "content": EARLIER}]
    if messages[-1]["role"] == "assistant":
        return [*messages, {"role": "user", "content": GO_ON}]
    return messages


def encode(messages: Sequence[Message]) -> bytes:
    """The JSON array of `outgoing` messages; the same messages give the same bytes."""
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":")).encode()


def _content(value: object) -> Any:
    """A string, or a non-empty list of content parts; anything else is made a string."""
    if isinstance(value, str):
        return mend(value)
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [json.loads(_json(part)) for part in value if isinstance(part, dict)]
        return parts or ""
    return _json(value)


def _json(value: object) -> str:
    return mend(json.dumps(value, ensure_ascii=False, default=str))


def _split_system(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    system, rest = [], []
    for message in messages:
        if message.get("role") in ("system", "developer"):
            text = _content(message.get("content"))
            if text:
                system.append(text if isinstance(text, str) else _json(text))
        else:
            rest.append(message)
    return "\n\n".join(system), rest


def _pair(messages: Sequence[Message], used: set[str]) -> list[Message]:
    """Puts each call's result right behind it, in call order; drops orphans, fills gaps, makes ids unique."""
    results = _Results(messages)
    paired: list[Message] = []
    for position, message in enumerate(messages):
        role = message.get("role")
        if role == "user":
            content = _content(message.get("content"))
            if content and not (isinstance(content, str) and content.isspace()):
                paired.append({"role": "user", "content": content})
        elif role == "assistant":
            paired.extend(_assistant(message, position, results, used))
    return paired


class _Results:
    """The tool results of a history. A result belongs to the last call of its id that stands before it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._texts: dict[tuple[str, int], list[str]] = {}
        called_at: dict[str, int] = {}
        for position, message in enumerate(messages):
            if message.get("role") == "assistant":
                for call in message.get("tool_calls") or ():
                    if isinstance(call, dict):
                        called_at[str(call.get("id"))] = position
            elif message.get("role") == "tool" and (call_id := str(message.get("tool_call_id"))) in called_at:
                text = _content(message.get("content"))
                text = text if isinstance(text, str) else _json(text)
                self._texts.setdefault((call_id, called_at[call_id]), []).append(text)

    def take(self, call_id: str, position: int) -> str:
        """The next result of the call that stands at `position` in the history."""
        texts = self._texts.get((call_id, position))
        return texts.pop(0) if texts else MISSING_RESULT


def _assistant(message: Message, position: int, results: _Results, used: set[str]) -> list[Message]:
    content = _content(message.get("content"))
    if not isinstance(content, str):
        content = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    if content.isspace():
        content = ""
    made: Message = {"role": "assistant", "content": content}
    if isinstance(thoughts := message.get("reasoning_content"), str) and thoughts:
        made["reasoning_content"] = mend(thoughts)
    calls, answers = [], []
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            continue
        call_id = _unique(mend(str(call.get("id") or "call")), used)
        calls.append(
            {
                "id": call_id,
                "type": "function",
                "function": {
                    "name": mend(function["name"]),
                    "arguments": _object_text(function.get("arguments")),
                },
            }
        )
        answer = results.take(str(call.get("id")), position)
        answers.append({"role": "tool", "tool_call_id": call_id, "content": answer})
    if calls:
        made["tool_calls"] = calls
    return [made, *answers] if calls or content else []


def _unique(call_id: str, used: set[str]) -> str:
    candidate, number = call_id, 1
    while candidate in used:
        number += 1
        candidate = f"{call_id}_{number}"
    used.add(candidate)
    return candidate


def _object_text(arguments: object) -> str:
    """The arguments as the text of one JSON object; text that is none becomes an object that holds it."""
    if isinstance(arguments, dict):
        return _json(arguments)
    text = mend(arguments) if isinstance(arguments, str) else ""
    if not text.strip():
        return "{}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return _json({"unparsed": text})
    return _json(value) if "\\u" in text and _json(value) != json.dumps(value, ensure_ascii=False) else text


def _alternate(messages: list[Message]) -> list[Message]:
    """Joins users in a row, and an assistant's words with the assistant message that follows at once."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last and message["role"] == last["role"] == "user":
            joined[-1] = {"role": "user", "content": _join(last["content"], message["content"])}
        elif last and message["role"] == last["role"] == "assistant":
            joined[-1] = message | {"content": _join(last["content"], message["content"])}
        else:
            joined.append(message)
    return joined


def _join(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(part for part in (first, second) if part)
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def dress(message: Message, profile: Profile) -> Message:
    """The message in the shape that this server wants: null contents, call ids, echoed reasoning."""
    if message["role"] == "assistant":
        dressed: Message = {"role": "assistant", "content": message["content"]}
        if profile.echo_reasoning and "reasoning_content" in message:
            dressed["reasoning_content"] = message["reasoning_content"]
        if calls := message.get("tool_calls"):
            if not message["content"]:
                dressed["content"] = None if profile.content_null else ""
            dressed["tool_calls"] = [call | {"id": _call_id(call["id"], profile)} for call in calls]
        return dressed
    if message["role"] == "tool":
        return message | {"tool_call_id": _call_id(message["tool_call_id"], profile)}
    return message


def _call_id(call_id: str, profile: Profile) -> str:
    if profile.id_rule == "mistral9" and not (len(call_id) == 9 and call_id.isalnum() and call_id.isascii()):
        return hashlib.sha256(call_id.encode()).hexdigest()[:9]
    return call_id
