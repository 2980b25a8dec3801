from __future__ import annotations

import asyncio
import threading

import pytest

from cashcode_jupyter.cli.outbox import Outbox


async def test_everything_that_was_put_is_written_in_order() -> None:
    written = bytearray()
    outbox = Outbox(written.extend)
    running = asyncio.create_task(outbox.run())
    for number in range(100):
        await outbox.put(b"%d" % number)
    outbox.close()
    await running
    assert written.split() == [b"%d" % number for number in range(100)]


async def test_a_reader_that_stalls_holds_up_nobody_until_much_waits() -> None:
    go_on = threading.Event()
    written: list[bytes] = []

    def stalled(data: bytes) -> None:
        go_on.wait()
        written.append(data)

    outbox = Outbox(stalled, limit=10)
    running = asyncio.create_task(outbox.run())
    await outbox.put(b"x" * 8)
    await outbox.put(b"x" * 8)
    third = asyncio.create_task(outbox.put(b"the third"))
    await asyncio.sleep(0)
    assert not third.done()
    go_on.set()
    await third
    outbox.close()
    await running
    assert b"".join(written).endswith(b"the third\n")


async def test_a_broken_pipe_is_raised_where_writing_is_waited_for() -> None:
    def broken(data: bytes) -> None:
        raise BrokenPipeError

    outbox = Outbox(broken)
    await outbox.put(b"x")
    with pytest.raises(BrokenPipeError):
        await outbox.run()
