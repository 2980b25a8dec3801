"""Clocks and counters: medians of interleaved repeats, CPU and memory of another process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from statistics import median as middle

Case = Callable[[], Awaitable[float]]


def median(values: Iterable[float]) -> float:
    return middle(list(values))


async def interleaved(
    cases: Mapping[str, Case], repeats: int, *, warm: int = 2, pause: float = 0.0
) -> dict[str, float]:
    """The median of each case. The cases take turns, so that noise of the machine hits all of them alike.

    `pause` seconds pass before each sample, so that what the one before left to do is not counted against it.
    """
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for repeat in range(-warm, repeats):
        for name, case in cases.items():
            await asyncio.sleep(pause)
            value = await case()
            if repeat >= 0:
                samples[name].append(value)
    return {name: median(values) for name, values in samples.items()}


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, with all its threads, since it began."""
    if pid == os.getpid():
        return time.process_time()
    return time.clock_gettime((~pid << 3) | 2)  # Linux's per-process CPU clock; /proc/PID/stat counts in 10 ms


def rss_mb(pid: int) -> float:
    """Resident memory in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)
