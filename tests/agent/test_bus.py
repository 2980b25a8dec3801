from __future__ import annotations

import asyncio
import json

import pytest

from cashcode_jupyter.agent.bus import MAX_REPLIES, TICK, Bus
from cashcode_jupyter.agent.journal import MAX_OLD_BYTES, SlowReader
from cashcode_jupyter.protocol.events import Pong, StreamEnd


async def take(frames, count: int) -> list[dict]:
    return [json.loads(await asyncio.wait_for(anext(frames), 5)) for _ in range(count)]


def say(bus: Bus, text: str, chat_id: str = "a") -> None:
    bus.publish_text(chat_id, "delta", text, stream_id=1, turn_id="t")


async def test_the_first_delta_goes_out_at_once_and_the_next_are_joined_on_the_tick():
    bus, clock = Bus(), asyncio.get_running_loop().time
    bus.open("a", 0)
    reader = bus.subscribe()
    reader.watch("a")
    frames = reader.frames()
    start = clock()
    say(bus, "first")
    [first] = await take(frames, 1)
    assert first["text"] == "first" and clock() - start < TICK
    say(bus, " second")
    say(bus, " third")
    [joined] = await take(frames, 1)
    assert joined["text"] == " second third"
    assert clock() - start >= TICK


async def test_other_events_do_not_wait_for_the_tick():
    bus, clock = Bus(), asyncio.get_running_loop().time
    bus.open("a", 0)
    reader = bus.subscribe()
    reader.watch("a")
    frames = reader.frames()
    say(bus, "first")
    await take(frames, 1)
    start = clock()
    say(bus, "last words")
    bus.publish("a", StreamEnd(turn_id="t", stream_id=1))
    delta, end = await take(frames, 2)
    assert (delta["text"], end["event"]) == ("last words", "stream_end")
    assert clock() - start < TICK


async def test_a_stalled_reader_delays_nobody_and_costs_no_copies():
    bus = Bus()
    bus.open("a", 0)
    stalled, lively = bus.subscribe(), bus.subscribe()
    stalled.watch("a")
    lively.watch("a")
    lively_frames = lively.frames()
    for number in range(1000):
        say(bus, f"{number} ")
    [frame] = await take(lively_frames, 1)
    assert frame["first_seq"] == 1 and frame["seq"] == 1000
    [late] = await take(stalled.frames(), 1)
    assert late["text"] == frame["text"]


async def test_a_reader_that_fell_behind_the_journal_is_told_to_attach_again():
    bus = Bus()
    journal = bus.open("a", 0)
    reader = bus.subscribe()
    reader.watch("a")
    for _ in range(3):
        journal.begin_turn()
        say(bus, "x" * MAX_OLD_BYTES + "y")
    with pytest.raises(SlowReader):
        await take(reader.frames(), 1)


async def test_replies_that_nobody_reads_are_bounded():
    reader = Bus().subscribe()
    for _ in range(MAX_REPLIES + 1):
        reader.reply(Pong())
    with pytest.raises(SlowReader):
        await take(reader.frames(), 1)


async def test_watching_a_chat_before_it_is_open_sees_its_first_event():
    bus = Bus()
    reader = bus.subscribe()
    reader.watch("a")
    bus.open("a", 41)
    bus.publish("a", Pong())
    [event] = await take(reader.frames(), 1)
    assert event["seq"] == 42


async def test_attaching_reads_from_the_wanted_position_exactly_once():
    bus = Bus()
    bus.open("a", 0)
    for text in ("one ", "two ", "three"):
        say(bus, text)
    reader = bus.subscribe()
    reader.watch("a", 1)
    [frame] = await take(reader.frames(), 1)
    assert (frame["first_seq"], frame["text"]) == (2, "two three")


async def test_a_closed_reader_ends():
    bus = Bus()
    reader = bus.subscribe()
    reader.watch("a")
    frames = reader.frames()
    reading = asyncio.ensure_future(anext(frames, None))
    await asyncio.sleep(0)
    reader.close()
    assert await asyncio.wait_for(reading, 5) is None


async def test_a_deleted_chats_readers_hear_of_a_new_chat_of_that_name():
    bus = Bus()
    bus.open("a", 10)
    reader = bus.subscribe()
    reader.watch("a")
    bus.drop("a")
    bus.open("a", 0)
    bus.publish("a", Pong())
    [event] = await take(reader.frames(), 1)
    assert event["seq"] == 1


async def test_numbers_go_on_after_those_that_another_process_gave():
    bus = Bus()
    bus.open("a", 5)
    reader = bus.subscribe()
    reader.watch("a")
    bus.open("a", 40)
    bus.publish("a", Pong())
    [event] = await take(reader.frames(), 1)
    assert event["seq"] == 41
