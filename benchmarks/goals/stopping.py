"""Stop: how long until the turn is over, and whether the model noticed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from benchmarks.bench import Bench
from benchmarks.chat import Chat, socket
from benchmarks.measure import median
from benchmarks.rows import Row, ms

STREAMING = "[[mock:text,chunks=1000,delay_ms=20]] go"
SILENT = "[[mock:text,first_ms=60000]] go"


async def stopping(bench: Bench) -> list[Row]:
    repeats = bench.pick(9, 3)
    rows = []
    with bench.server() as server:
        async with socket(server) as chat:
            for name, prompt in (("while it streams", STREAMING), ("while the model is silent", SILENT)):
                took, aborts = [], 0
                for _repeat in range(repeats):
                    bench.model.clear()
                    took.append(await _stop(bench, chat, prompt))
                    aborts += await _logged(bench, lambda record: record["aborted"])
                rows.append(
                    Row(
                        f"stop {name}",
                        ms(median(took)),
                        max(took),
                        0.3 if aborts == repeats else 0.0,
                        f"the longest of {repeats}; the model saw {aborts} of {repeats} aborts",
                        unit="s",
                    )
                )
    return rows


async def _stop(bench: Bench, chat: Chat, prompt: str) -> float:
    """Seconds from `cancel` to `done`."""
    await chat.new()
    await chat.send(type="message", chat_id=chat.chat_id, content=prompt)
    if prompt == STREAMING:
        await chat.until("delta")
    else:
        await _logged(bench, lambda record: True)
    started = time.perf_counter()
    await chat.send(type="cancel", chat_id=chat.chat_id)
    done = await chat.until("done", "error")
    took = time.perf_counter() - started
    if done.get("stop_reason") != "cancelled":
        raise RuntimeError(f"a stopped turn ended otherwise: {done}")
    return took


async def _logged(bench: Bench, holds: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether the model's log comes to hold such a request within a second."""
    for _try in range(100):
        if any(holds(record) for record in await asyncio.to_thread(bench.model.log)):
            return True
        await asyncio.sleep(0.01)
    return False
