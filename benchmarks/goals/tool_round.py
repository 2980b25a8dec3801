"""A tool round: calls on disk, run, told and answered, against a bare loop that only sends the growing list."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks import history
from benchmarks.bench import Bench
from benchmarks.chat import connection, socket
from benchmarks.core import ScriptTools, core
from benchmarks.measure import interleaved
from benchmarks.rows import Row, ms
from cashcode_jupyter.paths import Paths

ROUNDS = 10
NOOP = f"[[mock:tools,rounds={ROUNDS},tool=noop,arg.n={{round}},chunks=2]] go"
GLOB = f"[[mock:tools,rounds={ROUNDS},tool=glob,arg.pattern=*.{{round}},chunks=2]] go"
LONG = 1000


async def tool_round(bench: Bench) -> list[Row]:
    past = history.messages(LONG)
    home, repeats = bench.home(), bench.pick(15, 5)
    chats = [f"past-{number}" for number in range(repeats + 2)]
    for chat_id in chats:
        await history.write(Paths(home.data, home.config), chat_id, turns=LONG // 2, closed=False)
    with bench.server() as server:
        async with core(home, ScriptTools()) as agent, connection(agent) as near, socket(server) as far:
            cost = Cost(bench)
            left = iter(chats)

            async def near_turn() -> float:
                await near.new()
                return await cost.of(lambda: near.ask(NOOP))

            async def far_turn() -> float:
                await far.new()
                return await cost.of(lambda: far.ask(GLOB))

            async def long_turn() -> float:
                await near.attach(next(left))
                await near.ask("[[mock:text,chunks=1]] warm")
                return await cost.of(lambda: near.ask(NOOP))

            took = await interleaved(
                {
                    "raw": lambda: cost.of(lambda: bench.raw.turn(NOOP)),
                    "noop": near_turn,
                    "socket": far_turn,
                    "raw long": lambda: cost.of(lambda: bench.raw.turn(NOOP, past)),
                    "long": long_turn,
                },
                repeats,
            )
    how = f"client wall - model time, {ROUNDS} rounds a turn, median of {repeats}; raw {took['raw'] * 1e3:.2f} ms"
    return [
        Row("tool round, core, no-op tool", ms(took["noop"]), took["noop"] / took["raw"], 4.5, how),
        Row("tool round, WebSocket, glob", ms(took["socket"]), took["socket"] / took["raw"], 4.5, how),
        Row(
            f"tool round, {LONG:,} messages before it",
            ms(took["long"]),
            took["long"] / took["raw long"],
            2.0,
            f"core, no-op tool; raw {took['raw long'] * 1e3:.2f} ms",
        ),
    ]


class Cost:
    """What a turn costs the client: its wall time less the time that its requests took at the model, per round."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    async def of(self, turn: Callable[[], Awaitable[Any]]) -> float:
        self._bench.model.clear()
        started = time.perf_counter()
        await turn()
        wall = time.perf_counter() - started
        return (wall - self._bench.model.seconds()) / ROUNDS
