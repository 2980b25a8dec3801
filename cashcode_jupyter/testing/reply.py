"""The answer before it becomes bytes: pieces of text and reasoning, tool calls, the finish reason, the usage."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cashcode_jupyter.testing.directive import Directive, ScriptedCall
from cashcode_jupyter.testing.pictures import what_is_seen
from cashcode_jupyter.testing.plan import Plan


@dataclass
class Call:
    """One tool call as it goes out. A quirk may put into `id` and `arguments` what no honest server sends."""

    id: Any
    name: str
    arguments: Any
    index: int | None = None


@dataclass
class Reply:
    """What is answered. Quirks change one in place; `finish` None means that none is sent."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    reasoning_field: str = "reasoning_content"
    calls: list[Call] = field(default_factory=list)
    finish: str | None = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    refusal: str | None = None

    @property
    def usage(self) -> dict[str, int]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


@lru_cache(maxsize=64)
def counted_words(chunks: int, size: int) -> tuple[str, ...]:
    """`00000 `, `00001 `, ...: numbered pieces of one size, so that a lost or doubled one is seen."""
    return tuple(f"{number:0{max(size - 1, 1)}d} " for number in range(chunks))


def pieces(text: str, chunks: int | None, size: int | None) -> list[str]:
    """`text` cut into `chunks` pieces, or into pieces of `size` characters (6)."""
    step = max(1, -(-len(text) // chunks)) if chunks else size or 6
    return [text[start : start + step] for start in range(0, len(text), step)]


def reply_to(plan: Plan, body: dict[str, Any], request_id: str, request_bytes: int) -> Reply:
    """The answer that the plan asks for in this round, before any quirk."""
    asked = plan.directive
    reply = Reply(reasoning=pieces(asked.reasoning, None, asked.size))
    wanted = _calls(plan, _offered(body))
    if wanted:
        reply.calls = [
            Call(f"call_{request_id}_{number}", call.name, call.arguments, number)
            for number, call in enumerate(wanted)
        ]
        reply.text = pieces(asked.before, None, asked.size)
        reply.finish = "tool_calls"
    else:
        reply.text = pieces(what_is_seen(body), asked.chunks, asked.size) if asked.see else _text(asked)
    reply.prompt_tokens = request_bytes // 4 if asked.prompt_tokens is None else asked.prompt_tokens
    counted = len(reply.text) + len(reply.calls)
    reply.completion_tokens = counted if asked.completion_tokens is None else asked.completion_tokens
    return reply


def _text(asked: Directive) -> list[str]:
    if asked.text is not None:
        return pieces(asked.text, asked.chunks, asked.size)
    return list(counted_words(20 if asked.chunks is None else asked.chunks, asked.size or 6))


def _offered(body: dict[str, Any]) -> list[str]:
    tools = body.get("tools")
    functions = (
        [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    )
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    return [name for name in names if isinstance(name, str)]


def _calls(plan: Plan, offered: list[str]) -> list[ScriptedCall]:
    asked = plan.directive
    if not offered:
        return []
    if asked.script is not None:
        rounds = len(asked.script)
        if plan.round < rounds:
            return list(asked.script[plan.round])
    else:
        rounds = asked.rounds if asked.kind != "text" else 0
        if plan.round < rounds:
            name = next((n for n in offered if asked.tool and n.startswith(asked.tool)), offered[0])
            total = asked.calls if asked.calls is not None else 8 if asked.kind == "parallel" else 1
            return [ScriptedCall(name, asked.arguments(plan.round, number)) for number in range(total)]
    if asked.final_tool in offered:
        return [ScriptedCall(asked.final_tool, json.dumps({"answer": "".join(_text(asked))}, ensure_ascii=False))]
    return []
