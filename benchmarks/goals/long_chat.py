"""A chat that grows: its 200th turn against its 5th."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.chat import socket
from benchmarks.measure import interleaved
from benchmarks.rows import Row, ms

TURN = "[[mock:text,chunks=20]] And what else is there to say about it?"


async def long_chat(bench: Bench) -> list[Row]:
    repeats = bench.pick(21, 11)
    with bench.server() as server:
        async with socket(server) as old, socket(server) as young:
            for _turn in range(200 - repeats // 2 - 1):
                await old.ask(TURN)

            async def fifth() -> float:
                await young.new()
                for _turn in range(4):
                    await young.ask(TURN)
                return (await young.ask(TURN)).seconds

            async def two_hundredth() -> float:
                return (await old.ask(TURN)).seconds

            took = await interleaved({"5": fifth, "200": two_hundredth}, repeats, warm=0)
    how = f"WebSocket, message to done, turns {200 - repeats // 2}-{200 + repeats // 2}; turn 5 {ms(took['5'])}"
    return [Row("turn 200 / turn 5 of a chat", ms(took["200"]), took["200"] / took["5"], 1.3, how)]
