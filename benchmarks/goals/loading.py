"""What having the extension costs before anybody uses it, and what `%load_ext` costs a kernel."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.kernel import kernel
from benchmarks.measure import cpu_seconds, median, rss_mb
from benchmarks.rows import Row, ms

LOAD = """
import sys, time
before = time.perf_counter()
%load_ext cashcode_jupyter
print(time.perf_counter() - before, *sorted({"openai", "mcp", "numpy", "rank_bm25"} & sys.modules.keys()))
"""


async def loading(bench: Bench) -> list[Row]:
    repeats = bench.pick(9, 4)
    wall: dict[bool, list[float]] = {True: [], False: []}
    cpu: dict[bool, list[float]] = {True: [], False: []}
    memory: dict[bool, list[float]] = {True: [], False: []}
    for repeat in range(repeats + 1):
        for extension in (False, True) if repeat % 2 else (True, False):
            with bench.server(extension=extension) as server:
                if repeat:
                    wall[extension].append(server.start_seconds)
                    cpu[extension].append(cpu_seconds(server.pid))
                    memory[extension].append(rss_mb(server.pid))
    more = min(wall[True]) - min(wall[False])
    more_cpu = min(cpu[True]) - min(cpu[False])
    more_memory = median(memory[True]) - median(memory[False])
    how = f"to the first /api/status, quickest of {repeats} interleaved each; bare {min(wall[False]):.2f} s"
    rows = [
        Row("server start with the extension", f"{ms(more)} more", more * 1e3, 100, how, unit=" ms"),
        Row(
            "CPU of that start",
            f"{ms(more_cpu)} more",
            more_cpu * 1e3,
            None,
            "less noisy than the wall",
            unit=" ms",
        ),
        Row(
            "server memory with the extension",
            f"{more_memory:.1f} MiB more",
            more_memory,
            15,
            f"bare {median(memory[False]):.1f} MiB",
            unit=" MiB",
        ),
    ]
    took: list[float] = []
    loaded: set[str] = set()
    with bench.server() as server:
        for _repeat in range(bench.pick(5, 2)):
            async with kernel(server) as shell:
                seconds, *names = (await shell.run(LOAD)).stdout.split()
                took.append(float(seconds))
                loaded |= set(names)
    what = f"a new kernel each, median of {len(took)}; forbidden modules: {', '.join(sorted(loaded)) or 'none'}"
    rows.append(Row("%load_ext in a real kernel", ms(median(took)), median(took) * 1e3, 200, what, unit=" ms"))
    return rows
