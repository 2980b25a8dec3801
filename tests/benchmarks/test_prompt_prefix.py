"""A model server can keep what it has computed: each request begins with the bytes of the one before."""

from __future__ import annotations

import json
from itertools import pairwise

from benchmarks.chat import Chat, connection
from benchmarks.children import Home
from benchmarks.core import core
from cashcode_jupyter.testing import ScriptedModel

TEXT = "[[mock:text,chunks=3]] Und dann? 那么呢？"
TOOLS = "[[mock:tools,rounds=3,tool=glob,arg.pattern=*.{round},chunks=2]] look"


def prompts(model: ScriptedModel) -> list[tuple[bytes, bytes]]:
    """`(tools, messages)` of each request as they went over the wire; messages without the closing bracket."""
    return [(_raw(record.raw, "tools"), _raw(record.raw, "messages")[:-1]) for record in model.requests]


def _raw(body: bytes | None, field: str) -> bytes:
    text = (body or b"").decode()
    start = text.index(f'"{field}":') + len(field) + 3
    start += len(text[start:]) - len(text[start:].lstrip())
    _value, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end].encode()


def assert_each_begins_with_the_one_before(model: ScriptedModel) -> None:
    for (tools, before), (tools_after, after) in pairwise(prompts(model)):
        assert tools_after == tools
        assert after.startswith(before + b",")


async def test_turns_and_tool_rounds_keep_the_prefix_byte_for_byte(chat: Chat, model: ScriptedModel):
    for prompt in (TEXT, TOOLS, TEXT, TOOLS):
        await chat.ask(prompt)
    assert len(model.requests) == 1 + 4 + 1 + 4
    assert_each_begins_with_the_one_before(model)


async def test_a_restart_keeps_the_prefix_byte_for_byte(home: Home, model: ScriptedModel):
    model.clear()
    async with core(home) as first, connection(first) as chat:
        await chat.ask(TOOLS)
        chat_id = chat.chat_id
    async with core(home) as second, connection(second) as chat:
        await chat.attach(chat_id)
        await chat.ask(TEXT)
    assert len(model.requests) == 4 + 1
    assert_each_begins_with_the_one_before(model)
