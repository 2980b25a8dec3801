"""kill -9 at any moment of a turn: no acknowledged message is lost and the next request is legal."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys

import pytest

from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.testing.fixtures import CashcodeHome
from cashcode_jupyter.testing.model import ScriptedModel
from tests.agent.conftest import Door

TURN = "[[mock:tools,rounds=3,tool=list_dir,arg.path=.,chunks=20,delay_ms=4]] number {number}"


@pytest.fixture
def scripted_model():
    with ScriptedModel(strict=True) as model:
        yield model


async def killed_run(after: float) -> set[str]:
    """Two messages into a process that is killed `after` seconds; gives what it acknowledged."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cashcode_jupyter.cli",
        "run",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin and process.stdout
    await process.stdout.readline()
    for number in (1, 2):
        action = {"type": "message", "chat_id": "chat", "content": TURN.format(number=number)}
        process.stdin.write(json.dumps(action).encode() + b"\n")
    await process.stdin.drain()
    await asyncio.sleep(after)
    process.send_signal(signal.SIGKILL)
    out, _ = await process.communicate()
    events = [json.loads(line) for line in out.splitlines() if line.endswith(b"}")]
    acknowledged = {event["event"] for event in events}
    return {name for name in ("turn_started", "queued") if name in acknowledged}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
async def test_a_killed_turn_loses_nothing_that_was_acknowledged(cashcode_home: CashcodeHome, seed: int):
    acknowledged = await killed_run(random.Random(seed).uniform(0.0, 0.6))
    core = CashCode(Settings.load(), console=False)
    await core.start()
    door = Door(core.connect())
    await door.send("attach", chat_id="chat")
    await door.until("attached")
    events = await door.ask("[[mock:text,say=here again]] last")
    while events[-1]["event"] == "done" and core.running("chat"):
        events = await door.until(lambda event: event["event"] in ("done", "error"))
    contents = [message["content"] for message in await core.sessions.messages("chat") if message["role"] == "user"]
    await core.stop()
    assert cashcode_home.model.refused == []
    assert events[-1]["event"] == "done"
    numbers = [content[-1] for content in contents if "number" in content]
    assert numbers == sorted(set(numbers)), "each once and in order"
    assert len(numbers) >= len(acknowledged)
    assert contents[-1].endswith("last")
