"""Tool calls as servers really send them: index, id, name and arguments missing, repeated or of another type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from cashcode_jupyter.testing.chunks import Stream
from cashcode_jupyter.testing.directive import Directive
from cashcode_jupyter.testing.quirks.registry import add
from cashcode_jupyter.testing.reply import Call, Reply


def call_parts(stream: Stream) -> Iterator[dict[str, Any]]:
    """Every `tool_calls` entry of every delta, in order."""
    for delta in stream.deltas():
        yield from delta.get("tool_calls") or ()


def _each_part(change: Callable[[dict[str, Any]], object]) -> Callable[[Stream, Directive, Reply], None]:
    def bend(stream: Stream, asked: Directive, reply: Reply) -> None:
        for part in call_parts(stream):
            change(part)

    return bend


def _each_call(change: Callable[[Call], object]) -> Callable[[Reply], None]:
    def alter(reply: Reply) -> None:
        for call in reply.calls:
            change(call)

    return alter


add(
    "no_index",
    "tool calls come without an index (older Ollama)",
    stream=_each_part(lambda part: part.pop("index", None)),
)
add(
    "index_zero",
    "every call has index 0, an id of its own and its arguments whole (Ollama)",
    reply=_each_call(lambda call: setattr(call, "index", 0)),
)
add("ids_empty", 'every call has the id "" (Gemini, GLM)', reply=_each_call(lambda call: setattr(call, "id", "")))
add("ids_null", "every call has the id null", reply=_each_call(lambda call: setattr(call, "id", None)))
add(
    "ids_repeated",
    "every call, also of later rounds, has the same id",
    reply=_each_call(lambda call: setattr(call, "id", "call_same")),
)


def _drop_ids(body: dict[str, Any]) -> None:
    for choice in body["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            call.pop("id", None)


add("ids_missing", "calls have no id", stream=_each_part(lambda part: part.pop("id", None)), whole=_drop_ids)


def _repeat_names(stream: Stream, asked: Directive, reply: Reply) -> None:
    calls = iter(reply.calls)
    call = None
    for part in call_parts(stream):
        if "type" in part:
            call = next(calls)
        if call is not None:
            part["id"], part["type"], part["function"]["name"] = call.id, "function", call.name


add("name_every_delta", "id and name stand in every delta of a call; use with split=", stream=_repeat_names)


def _as_object(call: Call) -> None:
    try:
        call.arguments = json.loads(call.arguments)
    except (ValueError, TypeError):
        call.arguments = {}


add("arguments_object", "arguments are a JSON object, not a text (litellm)", reply=_each_call(_as_object))
add("arguments_null", "arguments are null", reply=_each_call(lambda call: setattr(call, "arguments", None)))
add(
    "bad_arguments",
    "arguments are not valid JSON (as fault=badargs)",
    reply=_each_call(lambda call: setattr(call, "arguments", '{"broken": ')),
)
add("arguments_empty", 'arguments are ""', reply=_each_call(lambda call: setattr(call, "arguments", "")))


def _literal_newlines(call: Call) -> None:
    if not isinstance(call.arguments, str):
        return
    if "\\n" in call.arguments:
        call.arguments = call.arguments.replace("\\n", "\n")
    else:
        # Into the first text value, else between two tokens, where it is legal.
        call.arguments = re.sub(r'(: *")', "\\1\n", call.arguments, count=1)
        if "\n" not in call.arguments:
            call.arguments = call.arguments.replace("{", "{\n", 1)


add("literal_lf", "a raw line feed inside a text of the arguments (llama.cpp)", reply=_each_call(_literal_newlines))


def _cut(call: Call) -> None:
    if isinstance(call.arguments, str):
        call.arguments = call.arguments[: max(1, len(call.arguments) // 2)]


add(
    "cut_arguments",
    "arguments stop half way, the finish reason is still tool_calls (vLLM); add finish_length for the honest form",
    reply=lambda reply: _cut(reply.calls[-1]) if reply.calls else None,
)


def _finish_of_calls(finish: str | None) -> Callable[[Reply], None]:
    def alter(reply: Reply) -> None:
        if reply.calls:
            reply.finish = finish

    return alter


add("calls_finish_stop", "calls end with finish_reason stop (vLLM, Ollama)", reply=_finish_of_calls("stop"))
add("calls_finish_null", "calls end with finish_reason null", reply=_finish_of_calls(None))


def _as_text(reply: Reply) -> None:
    if not reply.calls:
        return
    blocks = [
        f'<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n</tool_call>'
        for call in reply.calls
    ]
    written = "\n".join(blocks)
    reply.text += [written[start : start + 7] for start in range(0, len(written), 7)]
    reply.calls, reply.finish = [], "stop"


def _in_thought(reply: Reply) -> None:
    if reply.calls:
        before = reply.text
        reply.text = []
        _as_text(reply)
        reply.text = ["<think>", *reply.text, "</think>", *(before or ["I will look it up."])]


add("tool_call_text", "calls are written as <tool_call> text, split over deltas (Qwen templates)", reply=_as_text)
add("tool_call_in_think", "a <tool_call> text inside <think>: thought, not asked for", reply=_in_thought)


def _unknown(call: Call) -> None:
    call.name += "_please"


add("unknown_tool", "the called name is one that was not offered", reply=_each_call(_unknown))
add("no_name", 'calls have the name ""', reply=_each_call(lambda call: setattr(call, "name", "")))
