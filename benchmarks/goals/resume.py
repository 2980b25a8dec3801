"""Going on with an old chat: a long history against a short one."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks import history
from benchmarks.bench import Bench
from benchmarks.chat import socket
from benchmarks.measure import interleaved
from benchmarks.rows import Row, ms
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths

SHORT, LONG = 1_002, 100_002
TURN = "[[mock:text,chunks=3]] hello"


async def resume(bench: Bench) -> list[Row]:
    repeats = bench.pick(7, 3)
    home = bench.home()
    paths = Paths(home.data, home.config)
    for name, records in (("short", SHORT), ("long", LONG)):
        await history.write(paths, f"{name}-0", turns=records // 3)
        for number in range(1, repeats + 2):
            _copy(paths, f"{name}-0", f"{name}-{number}")

    async def opened(chat_id: str) -> float:
        sessions = Sessions(paths)
        started = time.perf_counter()
        chat = await sessions.open(chat_id)
        took = time.perf_counter() - started
        await sessions.release(chat)
        await sessions.aclose()
        return took

    fresh = {name: _numbered(name) for name in ("short", "long")}
    cases = {"short": lambda: opened("short-0"), "long": lambda: opened("long-0")}
    load = await interleaved(cases, bench.pick(15, 7))
    with bench.server(home) as server:
        async with socket(server) as chat:

            async def first_turn(name: str) -> float:
                await chat.attach(next(fresh[name]))
                return (await chat.ask(TURN)).first_delta

            turn = await interleaved(
                {"short": lambda: first_turn("short"), "long": lambda: first_turn("long")}, repeats, warm=1
            )
    how = f"{LONG:,} records / {SHORT:,}"
    return [
        Row(
            "resume of a long chat",
            ms(load["long"]),
            load["long"] / load["short"],
            1.5,
            f"Sessions.open, {how}; short {ms(load['short'])}",
        ),
        Row(
            "first delta in a long chat",
            ms(turn["long"]),
            turn["long"] / turn["short"],
            1.5,
            f"WebSocket, never opened before, {how}; short {ms(turn['short'])}",
        ),
    ]


def _numbered(name: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{name}-{number}"


def _copy(paths: Paths, chat_id: str, other: str) -> None:
    folder = paths.chat(other)
    folder.mkdir(parents=True)
    for file in paths.chat(chat_id).iterdir():
        if file.suffix in (".jsonl", ".json"):
            (folder / file.name).write_bytes(file.read_bytes())
