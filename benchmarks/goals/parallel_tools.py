"""Eight calls in one answer: they run together."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.chat import connection
from benchmarks.core import ScriptTools, core
from benchmarks.measure import interleaved
from benchmarks.rows import Row, ms


async def parallel_tools(bench: Bench) -> list[Row]:
    tools, repeats = ScriptTools(), bench.pick(7, 3)
    async with core(bench.home(), tools) as agent, connection(agent) as chat:

        async def turn(calls: int) -> float:
            await chat.new()
            return (await chat.ask(f"[[mock:parallel,calls={calls},tool=nap,arg.n={{call}},chunks=2]] go")).seconds

        took = await interleaved({"1": lambda: turn(1), "8": lambda: turn(8)}, repeats, warm=1)
    how = f"200 ms each, whole turn, median of {repeats}; one {ms(took['1'])}; {tools.most_at_once} ran together"
    return [Row("8 parallel read tools / one", ms(took["8"]), took["8"] / took["1"], 1.15, how)]
