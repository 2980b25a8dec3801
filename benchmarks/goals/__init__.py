"""The goals, one module each, in the order of the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from benchmarks.bench import Bench
from benchmarks.goals.chunk_cpu import chunk_cpu
from benchmarks.goals.crowd import crowd
from benchmarks.goals.display import display
from benchmarks.goals.first_delta import first_delta
from benchmarks.goals.loading import loading
from benchmarks.goals.long_chat import long_chat
from benchmarks.goals.parallel_tools import parallel_tools
from benchmarks.goals.recall import recall
from benchmarks.goals.resume import resume
from benchmarks.goals.stalled import stalled
from benchmarks.goals.stopping import stopping
from benchmarks.goals.tool_round import tool_round
from benchmarks.rows import Row

GOALS: dict[str, Callable[[Bench], Awaitable[list[Row]]]] = {
    goal.__name__: goal
    for goal in (
        first_delta,
        tool_round,
        parallel_tools,
        long_chat,
        chunk_cpu,
        crowd,
        loading,
        resume,
        recall,
        stopping,
        stalled,
        display,
    )
}
