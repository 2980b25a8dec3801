"""A hundred chats at once: all finish, how fast, and what is left in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.bench import Bench
from benchmarks.chat import Seen, socket
from benchmarks.measure import interleaved, rss_mb
from benchmarks.rows import Row

CHATS = 100
TURN = "[[mock:text,chunks=20,delay_ms=20]] hello"
WHOLE = "".join(f"{number:05d} " for number in range(20))


async def crowd(bench: Bench) -> list[Row]:
    repeats = bench.pick(5, 2)
    with bench.server() as server:
        idle = rss_mb(server.pid)
        async with AsyncExitStack() as stack:
            chats = [await stack.enter_async_context(socket(server)) for _number in range(CHATS)]
            await chats[0].ask(TURN)
            warm = rss_mb(server.pid)
            finished = 0

            async def ours() -> float:
                nonlocal finished
                for chat in chats:
                    await chat.new()
                seconds, seen = await _timed(chat.ask(TURN) for chat in chats)
                finished += sum(_whole(turn) for turn in seen)
                return CHATS / seconds

            async def raw() -> float:
                seconds, _first = await _timed(bench.raw.first_delta(TURN) for _number in range(CHATS))
                return CHATS / seconds

            rate = await interleaved({"raw": raw, "ours": ours}, repeats, warm=1)
            after = rss_mb(server.pid)
    turns = CHATS * (repeats + 1)
    return [
        Row(
            f"{CHATS} chats at once finish whole",
            f"{finished} of {turns}",
            finished / turns,
            1.0,
            f"{CHATS} sockets, {repeats + 1} times, every delta counted",
            at_least=True,
        ),
        Row(
            f"{CHATS} chats at once, turns/s",
            f"{rate['ours']:.0f}/s",
            rate["ours"] / rate["raw"],
            0.6,
            f"raw {rate['raw']:.0f}/s; the clients of both share this process",
            at_least=True,
        ),
        Row(
            f"memory after {CHATS} chats / idle server",
            f"{after:.0f} MiB",
            after / idle,
            2.0,
            f"idle with the extension {idle:.0f} MiB, after its first turn {warm:.0f} MiB",
        ),
        Row(
            f"memory after {CHATS} chats / after one turn",
            f"{after:.0f} MiB",
            after / warm,
            None,
            "the libraries of the model layer are loaded in both",
        ),
    ]


def _whole(seen: Seen) -> bool:
    return seen.text == WHOLE and seen.last["stop_reason"] == "answered"


async def _timed(turns: Iterable[Awaitable[Any]]) -> tuple[float, list[Any]]:
    started = time.perf_counter()
    results = await asyncio.gather(*turns)
    return time.perf_counter() - started, results
