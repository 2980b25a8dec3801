"""Going on with a chat costs its tail, not its length."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import history
from benchmarks.children import Home
from cashcode_jupyter.paths import Paths

OPEN = """
import asyncio, sys
from pathlib import Path
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths

def read():
    return next(int(line.split()[1]) for line in open("/proc/self/io") if line.startswith("rchar"))

async def opened(sessions, chat_id):
    before = read()
    chat = await sessions.open(chat_id)
    after = read()
    await sessions.release(chat)
    return after - before, len(chat.messages)

async def main():
    sessions = Sessions(Paths(Path(sys.argv[1]), Path(sys.argv[2])))
    await opened(sessions, "warm")
    for chat_id in ("short", "long"):
        print(*await opened(sessions, chat_id))

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts bytes as Linux does")
async def test_resuming_100_000_records_reads_the_bytes_of_resuming_1_000(home: Home):
    paths = Paths(home.data, home.config)
    for chat_id, turns in (("warm", 1), ("short", 334), ("long", 33_334)):
        await history.write(paths, chat_id, turns=turns)
    run = subprocess.run(
        [sys.executable, "-c", OPEN, home.data, home.config], capture_output=True, text=True, check=True
    )
    (short, kept), (long, kept_long) = (map(int, line.split()) for line in run.stdout.splitlines())
    assert kept == kept_long
    assert long <= short * 1.25
    assert long < (paths.chat("long") / "history.jsonl").stat().st_size / 10
