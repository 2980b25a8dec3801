"""What is said and why it ended: thoughts in the text, reasoning fields, finish reasons, content of other types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cashcode_jupyter.testing.chunks import Stream
from cashcode_jupyter.testing.directive import Directive
from cashcode_jupyter.testing.quirks.registry import add
from cashcode_jupyter.testing.reply import Reply

THOUGHT = "Let me think about it."


def _thought(reply: Reply) -> str:
    thought = "".join(reply.reasoning) or THOUGHT
    reply.reasoning = []
    return thought


def _think(reply: Reply) -> None:
    reply.text = ["<thi", "nk>", _thought(reply), "</", "think", ">", *reply.text]


def _think_close(reply: Reply) -> None:
    reply.text = [_thought(reply), "</thi", "nk>", *reply.text]


def _think_open(reply: Reply) -> None:
    reply.text = ["<think>", _thought(reply), *reply.text]


add(
    "think", "the thought stands in the text as <think>…</think>, both tags split over chunks (Qwen3)", reply=_think
)
add("think_close_only", "only </think> is sent; what is before it was thought", reply=_think_close)
add("think_unclosed", "<think> is never closed", reply=_think_open)


def _reasons_in(name: str) -> Callable[[Reply], None]:
    def alter(reply: Reply) -> None:
        reply.reasoning_field = name
        reply.reasoning = reply.reasoning or [THOUGHT[:8], THOUGHT[8:]]

    return alter


for _name, _who in (("reasoning_content", "DeepSeek"), ("reasoning", "vLLM"), ("reasoning_details", "OpenRouter")):
    add(_name, f"reasoning comes as {_name} ({_who})", reply=_reasons_in(_name))


def _finish(reason: str | None) -> Callable[[Reply], None]:
    return lambda reply: setattr(reply, "finish", reason)


for _name, _reason in (
    ("finish_length", "length"),
    ("finish_content_filter", "content_filter"),
    ("finish_empty", ""),
    ("finish_eos", "eos"),
    ("finish_insufficient", "insufficient_system_resource"),
    ("finish_null", None),
):
    add(_name, f"finish_reason is {_reason!r}", reply=_finish(_reason))


def _refuse(reply: Reply) -> None:
    reply.text, reply.calls, reply.finish = [], [], "stop"
    reply.refusal = "I can't help with that."


add("refusal", "no content, but a refusal text", reply=_refuse)


def _say_nothing(reply: Reply) -> None:
    reply.text = []


add("empty_answer", "an answer without any text", reply=_say_nothing)


def _part_list(holder: dict[str, Any]) -> None:
    if isinstance(holder.get("content"), str):
        holder["content"] = [{"type": "text", "text": holder["content"]}]


def _parts_stream(stream: Stream, asked: Directive, reply: Reply) -> None:
    for delta in stream.deltas():
        _part_list(delta)


def _parts_whole(body: dict[str, Any]) -> None:
    for choice in body["choices"]:
        _part_list(choice["message"])


add("content_parts", "content is a list of parts, not a text", stream=_parts_stream, whole=_parts_whole)


def _null_stream(stream: Stream, asked: Directive, reply: Reply) -> None:
    """A null before the text, after its first piece, and in the finish frame."""
    nothing = stream.chunk({"role": "assistant", "content": None})
    stream.content = [nothing, *stream.content[:1], stream.chunk({"content": None}), *stream.content[1:]]
    stream.finish = stream.chunk({"content": None}, reply.finish)


def _null_whole(body: dict[str, Any]) -> None:
    for choice in body["choices"]:
        choice["message"]["content"] = None


add(
    "content_null",
    "content is null: among the deltas, or in the whole message",
    stream=_null_stream,
    whole=_null_whole,
)


def _line_separators(reply: Reply) -> None:
    reply.text = ["first\u2028second\u2029third\u0085", *reply.text]


def _lone_surrogate(reply: Reply) -> None:
    reply.text = ["\ud83d", *reply.text]


def _split_emoji(reply: Reply) -> None:
    reply.text = ["\ud83d", "\ude00", *reply.text]


add("lone_surrogate", "half a surrogate pair stands in the text as a JSON escape", reply=_lone_surrogate)
add("split_emoji", "the two halves of a surrogate pair come in two events as JSON escapes", reply=_split_emoji)
add("u2028", "U+2028, U+2029 and U+0085 stand raw in the text", reply=_line_separators)
add(
    "prompt_cut",
    "the prompt was cut silently: usage.prompt_tokens is at most 4096 (Ollama)",
    reply=lambda reply: setattr(reply, "prompt_tokens", min(reply.prompt_tokens, 4096)),
)
