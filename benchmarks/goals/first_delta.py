"""The first word: how long it takes through the server and its socket, against a bare client of the same model."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.chat import socket
from benchmarks.measure import interleaved
from benchmarks.rows import Row, ms

PAUSE = 0.03
SHORT = "[[mock:text,chunks=10,delay_ms=2]] hello"


async def first_delta(bench: Bench) -> list[Row]:
    repeats = bench.pick(40, 15)
    with bench.server() as server:
        async with socket(server) as fresh, socket(server) as same, socket(server) as prober:

            async def raw() -> float:
                return await bench.raw.first_delta(SHORT)

            async def new_chat() -> float:
                await fresh.new()
                return (await fresh.ask(SHORT)).first_delta

            async def same_chat() -> float:
                return (await same.ask(SHORT)).first_delta

            cases = {"raw": raw, "new": new_chat, "same": same_chat}
            took = await interleaved(cases, repeats, warm=5, pause=PAUSE)

            async def chunks(count: int) -> float:
                await prober.new()
                return await prober.first_delta(f"[[mock:text,chunks={count},delay_ms=5]] hello")

            cases = {"5": lambda: chunks(5), "500": lambda: chunks(500)}
            lengths = await interleaved(cases, repeats, pause=PAUSE)
            await prober.new()
            slow = await prober.ask("[[mock:text,chunks=60,delay_ms=50]] hello")
    how = f"median of {repeats} interleaved turns, 10 chunks; raw {took['raw'] * 1e3:.2f} ms"
    return [
        Row("first delta, new chat", ms(took["new"]), took["new"] / took["raw"], 2.0, how),
        Row("first delta, same chat", ms(took["same"]), took["same"] / took["raw"], 2.0, how),
        Row(
            "first delta, 500 chunks / 5",
            ms(lengths["500"]),
            lengths["500"] / lengths["5"],
            1.2,
            "5 ms between chunks, a new chat each",
        ),
        Row(
            "first delta of a 3 s answer",
            ms(slow.first_delta),
            slow.first_delta,
            0.3,
            f"60 chunks, the whole took {slow.seconds:.2f} s",
            unit="s",
        ),
    ]
