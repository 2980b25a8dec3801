"""What a streamed piece costs: CPU of the whole server process, model to one socket, against a bare client."""

from __future__ import annotations

import os

from benchmarks.bench import Bench
from benchmarks.chat import socket
from benchmarks.measure import cpu_seconds, interleaved
from benchmarks.rows import Row


async def chunk_cpu(bench: Bench) -> list[Row]:
    rows = []
    with bench.server() as server:
        async with socket(server) as chat:
            for name, count, pause in (
                ("at full speed", bench.pick(20_000, 10_000), 0),
                ("at 200 a second", bench.pick(1_000, 300), 5),
            ):
                prompt = f"[[mock:text,chunks={count},delay_ms={pause}]] go"

                async def raw(prompt: str = prompt, count: int = count) -> float:
                    before = cpu_seconds(os.getpid())
                    await bench.raw.first_delta(prompt)
                    return (cpu_seconds(os.getpid()) - before) / count * 1e6

                async def ours(prompt: str = prompt, count: int = count) -> float:
                    await chat.new()
                    before = cpu_seconds(server.pid)
                    await chat.ask(prompt)
                    return (cpu_seconds(server.pid) - before) / count * 1e6

                repeats = bench.pick(5, 3 if not pause else 1)
                took = await interleaved({"raw": raw, "ours": ours}, repeats, warm=0 if pause else 1)
                rows.append(
                    Row(
                        f"CPU per chunk {name}",
                        f"{took['ours']:.1f} us",
                        took["ours"] / took["raw"],
                        2.5,
                        f"{count:,} chunks, median of {repeats}; raw {took['raw']:.1f} us",
                    )
                )
    return rows
