"""Read tools of one answer run together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from benchmarks.chat import connection
from benchmarks.children import Home
from benchmarks.core import core, numbered
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, Toolset, ToolSpec

CALLS = 8


class MeetingTools(Toolset):
    """`meet` returns when all calls are in it, so it never returns to calls that run one after the other."""

    def __init__(self) -> None:
        self._meeting = asyncio.Barrier(CALLS)

    def specs(self) -> Sequence[ToolSpec]:
        return (numbered("meet", "Wait for the others."),)

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        place = await self._meeting.wait()
        return ToolOutcome(True, f"met as {place}", preview="met")


async def test_eight_read_calls_of_one_answer_are_all_running_before_one_ends(home: Home):
    async with core(home, MeetingTools()) as agent, connection(agent) as chat, asyncio.timeout(20):
        seen = await chat.ask(f"[[mock:parallel,calls={CALLS},tool=meet,arg.n={{call}},chunks=2]] go")
    results = [event for event in seen.events if event["event"] == "tool_result"]
    assert [event["ok"] for event in results] == [True] * CALLS
