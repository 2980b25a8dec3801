"""A reply as the events of a stream, or as one body.

A stream without quirks is put together from one template, because this server is also the reference that benchmarks
divide by; a quirky one is built as objects that quirks may bend.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cashcode_jupyter.testing.reply import Call, Reply

DONE = b"data: [DONE]\n\n"

Event = dict[str, Any] | bytes


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dumps(value: Any) -> bytes:
    """JSON as raw UTF-8. A lone surrogate, which UTF-8 does not have, becomes the JSON escape it may have been."""
    return _encode(value).encode("utf-8", "backslashreplace")


def sse(value: Any) -> bytes:
    return b"data: " + dumps(value) + b"\n\n"


@dataclass
class Stream:
    """The events of one answer in their parts. Bytes among the events go out as they are."""

    base: dict[str, Any]
    content: list[Event] = field(default_factory=list)
    finish: Event | None = None
    usage: Event | None = None
    done: bytes = DONE

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**self.base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def deltas(self) -> Iterator[dict[str, Any]]:
        """Every delta of the content that is there to be bent."""
        for event in self.content:
            if isinstance(event, dict):
                for choice in event.get("choices") or ():
                    if isinstance(choice.get("delta"), dict):
                        yield choice["delta"]

    def frames(self) -> list[bytes]:
        """Every event as bytes, in order."""
        events = [*self.content, self.finish, self.usage]
        encoded = [event if isinstance(event, bytes) else sse(event) for event in events if event is not None]
        return [*encoded, self.done] if self.done else encoded


def base_of(request_id: str, model: Any) -> dict[str, Any]:
    return {"id": request_id, "object": "chat.completion.chunk", "created": int(time.time()), "model": model}


def stream_of(reply: Reply, base: dict[str, Any], *, split: int, usage: bool) -> Stream:
    """The reply as events that a quirk may still bend."""
    stream = Stream(base)
    deltas: list[dict[str, Any]] = [_reasoning(reply, piece) for piece in reply.reasoning]
    deltas += [{"content": piece} for piece in reply.text]
    if reply.refusal is not None:
        deltas.append({"refusal": reply.refusal})
    for call in reply.calls:
        deltas += _call_deltas(call, split)
    if deltas:
        deltas[0] = {"role": "assistant", **({} if "content" in deltas[0] else {"content": None}), **deltas[0]}
    stream.content = [stream.chunk(delta) for delta in deltas]
    stream.finish = stream.chunk({}, reply.finish)
    if usage:
        stream.usage = {**base, "choices": [], "usage": reply.usage}
    return stream


def _reasoning(reply: Reply, piece: str) -> dict[str, Any]:
    if reply.reasoning_field == "reasoning_details":
        return {"reasoning_details": [{"type": "reasoning.text", "text": piece, "format": "unknown", "index": 0}]}
    return {reply.reasoning_field: piece}


def _call_deltas(call: Call, split: int) -> list[dict[str, Any]]:
    text = call.arguments
    parts: list[Any] = [text]
    if isinstance(text, str):
        step = max(1, -(-len(text) // max(split, 1)))
        parts = [text[start : start + step] for start in range(0, len(text), step)] or [""]
    function = {"name": call.name, "arguments": parts[0]}
    first = {"index": call.index, "id": call.id, "type": "function", "function": function}
    rest = [{"index": call.index, "function": {"arguments": part}} for part in parts[1:]]
    return [{"tool_calls": [part]} for part in (first, *rest)]


def plain_frames(reply: Reply, base: dict[str, Any], *, usage: bool) -> list[bytes]:
    """The bytes of `stream_of(...).frames()` for a reply of text alone, without building an object an event."""
    stream = Stream(base)
    left, _, right = sse(stream.chunk({"content": "\0"})).rpartition(b'"\\u0000"')
    content = [left + dumps(piece) + right for piece in reply.text]
    if reply.text:
        content[0] = sse(stream.chunk({"role": "assistant", "content": reply.text[0]}))
    tail: list[bytes] = [sse(stream.chunk({}, reply.finish))]
    if usage:
        tail.append(sse({**base, "choices": [], "usage": reply.usage}))
    return [*content, *tail, DONE]


def whole_of(reply: Reply, base: dict[str, Any]) -> dict[str, Any]:
    """The reply as the one body of a request that did not ask for a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.text) or None}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.reasoning:
        message.update(_reasoning(reply, "".join(reply.reasoning)))
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return {**base, "object": "chat.completion", "choices": [choice], "usage": reply.usage}
