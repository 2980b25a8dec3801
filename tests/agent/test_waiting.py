"""Who waits for whom: queue, steer, stop, two chats, two processes."""

from __future__ import annotations

import asyncio
import json

import pytest

from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.agent.conftest import Door, names, text_of
from tests.agent.test_turn import calls, records

SLOW = "[[mock:text,chunks=400,delay_ms=20]]"
SILENT = "[[mock:text,first_ms=60000]]"


async def test_messages_of_one_chat_run_first_come_first_served(door: Door, cashcode_home: CashcodeHome):
    await door.send("message", chat_id="chat", content="[[mock:text,chunks=20,delay_ms=10]] one")
    await door.until("delta")
    await door.send("message", chat_id="chat", content="two")
    await door.send("message", chat_id="chat", content="three")
    events = await door.until("done")
    events += await door.until("done")
    events += await door.until("done")
    assert [event["position"] for event in events if event["event"] == "queued"] == [1, 2]
    assert [r["content"].split()[-1] for r in records(cashcode_home) if r["role"] == "user"] == [
        "one",
        "two",
        "three",
    ]


async def test_stop_ends_the_turn_at_once_aborts_the_request_and_keeps_what_was_said(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    clock = asyncio.get_running_loop().time
    await door.send("message", chat_id="chat", content=SLOW)
    begun = await door.until("delta")
    start = clock()
    await door.send("cancel", chat_id="chat")
    events = await door.until("done")
    assert clock() - start < 0.3
    assert events[-1]["stop_reason"] == "cancelled"
    assert "stop_ack" in names(events)
    assert await cashcode_home.model.until(lambda model: model.aborted == 1)
    [_, answer] = await core.sessions.messages("chat")
    assert answer["content"] == text_of(begun + events)


async def test_stop_works_while_the_model_is_silent(door: Door, cashcode_home: CashcodeHome):
    clock = asyncio.get_running_loop().time
    await door.send("message", chat_id="chat", content=SILENT)
    await door.until("turn_started")
    await cashcode_home.model.until(lambda model: len(model.requests) == 1)
    start = clock()
    await door.send("stop", chat_id="chat")
    events = await door.until("done")
    assert events[-1]["stop_reason"] == "cancelled" and clock() - start < 0.3
    assert await cashcode_home.model.until(lambda model: model.aborted == 1)


async def test_stopping_loses_nothing_that_waits(door: Door):
    await door.send("message", chat_id="chat", content=SLOW)
    await door.until("delta")
    await door.send("message", chat_id="chat", content="[[mock:text,say=second]]")
    await door.send("cancel", chat_id="chat")
    first = await door.until("done")
    second = await door.until("done")
    assert first[-1]["stop_reason"] == "cancelled"
    assert second[-1]["stop_reason"] == "answered" and text_of(second) == "second"


async def test_stop_in_an_idle_chat_is_only_acknowledged(door: Door):
    await door.send("cancel", chat_id="chat")
    await door.send("ping")
    assert names(await door.until("pong")) == ["stop_ack", "pong"]


async def test_a_steer_joins_the_running_turn_before_its_next_request(door: Door, cashcode_home: CashcodeHome):
    await door.send("message", chat_id="chat", content="[[mock:text,chunks=20,delay_ms=10]] go")
    await door.until("delta")
    await door.send("steer", chat_id="chat", content="[[mock:text,say=steered]] and be brief")
    events = await door.until("done")
    assert "steered" in names(events) and "turn_started" not in names(events)
    assert text_of(events).endswith("steered")
    users = [record for record in records(cashcode_home) if record["role"] == "user"]
    assert len(users) == 2 and users[0]["turn_id"] == users[1]["turn_id"]


async def test_a_steer_in_an_idle_chat_is_a_message(door: Door):
    await door.send("steer", chat_id="chat", content="[[mock:text,say=hello]]")
    events = await door.until("done")
    assert text_of(events) == "hello"


async def test_a_hundred_chats_run_side_by_side(door: Door):
    for number in range(100):
        content = "[[mock:text,chunks=10,delay_ms=20]]"
        await door.send("message", chat_id=f"chat{number}", content=content)
    done: set[str] = set()
    while len(done) < 100:
        done.add((await door.until("done", timeout=60))[-1]["chat_id"])


async def test_two_doors_follow_the_same_turn(door: Door, core: CashCode):
    other = Door(core.connect())
    await other.send("attach", chat_id="chat")
    await other.until("attached")
    mine = await door.ask("[[mock:text,chunks=20,delay_ms=5]]")
    theirs = await other.until("done")
    assert text_of(mine) == text_of(theirs)


async def test_attaching_with_after_seq_gives_the_rest_of_the_running_turn_once(door: Door, core: CashCode):
    await door.send("message", chat_id="chat", content="[[mock:text,chunks=60,delay_ms=10]]")
    seen = await door.until("delta")
    other = Door(core.connect())
    await other.send("attach", chat_id="chat", after_seq=seen[-1]["seq"])
    rest = await other.until("done")
    whole = seen + await door.until("done")
    assert next(event for event in rest if event["event"] == "attached")["running"] is True
    assert text_of(seen) + text_of(rest) == text_of(whole)


async def test_a_retry_branches_the_chat_before_the_message(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    await door.ask("[[mock:text,say=one]] first")
    await door.ask("[[mock:text,say=two]] second")
    [*_, second] = [record["cursor"] for record in records(cashcode_home) if record["role"] == "user"]
    await door.send("retry", chat_id="chat", from_cursor=second, content="[[mock:text,say=other]]")
    events = await door.until("done")
    branch = next(event["chat_id"] for event in events if event["event"] == "attached")
    messages = await core.sessions.messages(branch)
    assert [message["content"] for message in messages][1::2] == ["one", "other"]
    assert len(await core.sessions.messages("chat")) == 4


async def test_deleting_a_chat_stops_its_turn_and_a_later_message_starts_anew(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    await door.send("message", chat_id="chat", content=SLOW)
    await door.until("delta")
    await core.delete_chat("chat")
    assert not (cashcode_home.data / "memory" / "chat").exists()
    await door.ask("[[mock:text,say=fresh]]")
    assert len(cashcode_home.model.requests[-1].body["messages"]) == 2


async def test_a_second_process_on_the_same_chat_is_told_who_writes(door: Door, cashcode_home: CashcodeHome):
    await door.send("message", chat_id="chat", content=SLOW)
    await door.until("delta")
    child = await asyncio.create_subprocess_exec("cashcode", "ask", "--chat", "chat", "hello", stdout=-1, stderr=-1)
    _out, problem = await asyncio.wait_for(child.communicate(), 30)
    await door.send("cancel", chat_id="chat")
    await door.until("done")
    assert child.returncode == 1 and problem


async def test_an_approval_is_asked_and_answered_by_any_door(door: Door, core: CashCode):
    core.approvals.update({"risks": {"memory": "ask"}})
    await door.send("message", chat_id="chat", content=calls([("save_memory", {"content": "x y z"})]))
    [*_, request] = await door.until("approval_request")
    other = Door(core.connect())
    await other.send("attach", chat_id="chat")
    assert (await other.until("approval_request"))[-1]["call_id"] == request["call_id"]
    await other.send("approval", chat_id="chat", call_id=request["call_id"], decision="allow")
    events = await door.until("done")
    assert names(events)[0] == "approval_resolved"
    assert next(event for event in events if event["event"] == "tool_result")["ok"]


async def test_an_approval_that_is_denied_or_comes_too_late_runs_nothing(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    core.approvals.update({"risks": {"memory": "ask"}})
    await door.send("message", chat_id="chat", content=calls([("save_memory", {"content": "x y z"})]))
    [*_, request] = await door.until("approval_request")
    await door.send("approval", chat_id="chat", call_id=request["call_id"], decision="deny")
    events = await door.until("done")
    assert not next(event for event in events if event["event"] == "tool_result")["ok"]
    await door.send("approval", chat_id="chat", call_id=request["call_id"], decision="allow")
    assert (await door.until("error"))[-1]["code"] == "not_found"
    assert not (cashcode_home.data / "memory" / "MEMORY.md").exists()


async def test_stopping_while_an_approval_waits_ends_the_turn(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    core.approvals.update({"risks": {"memory": "ask"}})
    await door.send("message", chat_id="chat", content=calls([("save_memory", {"content": "x y z"})]))
    await door.until("approval_request")
    await door.send("cancel", chat_id="chat")
    events = await door.until("done")
    assert events[-1]["stop_reason"] == "cancelled"
    assert not (cashcode_home.data / "memory" / "MEMORY.md").exists()


async def test_what_waits_when_a_process_ends_runs_in_the_next(cashcode_home: CashcodeHome):
    first = CashCode(Settings.load(), console=False)
    await first.start()
    door = Door(first.connect())
    await door.send("message", chat_id="chat", content=SLOW)
    await door.until("delta")
    await door.send("message", chat_id="chat", content="[[mock:text,say=after the restart]]")
    await door.until("queued")
    await first.stop()
    second = CashCode(Settings.load(), console=False)
    await second.start()
    door = Door(second.connect())
    await door.send("attach", chat_id="chat")
    events = await door.until("done")
    await second.stop()
    assert text_of(events) == "after the restart"


async def test_bad_frames_get_typed_errors_and_the_door_stays_open(door: Door):
    for frame, code in [
        ("not json", "bad_frame"),
        ("[]", "bad_frame"),
        ('{"type": 5}', "bad_frame"),
        ('{"type": "dance"}', "unknown_type"),
        ('{"type": "message", "content": "x"}', "invalid_chat_id"),
        ('{"type": "message", "chat_id": "../x", "content": "x"}', "invalid_chat_id"),
        ('{"type": "message", "chat_id": "a\\n", "content": "x"}', "invalid_chat_id"),
        ('{"type": "message", "chat_id": "a", "content": "  "}', "missing_content"),
        ('{"type": "message", "chat_id": "a", "content": "x", "metadata": []}', "bad_metadata"),
        ('{"type": "approval", "chat_id": "a", "call_id": "c", "decision": "maybe"}', "bad_frame"),
        ('{"type": "retry", "chat_id": "a", "from_cursor": 3}', "not_found"),
    ]:
        await door.client.send(frame)
        assert (await door.until("error"))[-1]["code"] == code, frame
    await door.client.send(json.dumps({"type": "ping"}))
    assert (await door.until("pong"))[-1] == {"event": "pong"}


async def test_an_attach_that_meets_the_beginning_of_a_turn_misses_nothing(
    core: CashCode, door: Door, monkeypatch: pytest.MonkeyPatch
):
    other = Door(core.connect())
    await other.until("ready")
    peek = core.sessions.peek

    async def peek_while_a_turn_begins(chat_id: str):
        found = await peek(chat_id)
        await door.send("message", chat_id=chat_id, content="one")
        await door.until("turn_started")
        return found

    monkeypatch.setattr(core.sessions, "peek", peek_while_a_turn_begins)
    await other.send("attach", chat_id="chat", after_seq=0)
    [attached, *heard] = await other.until("done")
    assert attached["running"] and attached["last_seq"] >= 2
    assert names(heard)[:2] == ["session_updated", "turn_started"] and heard[0]["seq"] == 1
    await other.client.aclose()


async def test_a_stop_right_behind_a_message_stops_it_also_while_its_chat_is_being_opened(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    await door.ask("one")
    await core.stop()
    core = CashCode(Settings.load(), console=False)
    await core.start()
    door = Door(core.connect())
    await door.send("message", chat_id="chat", content=SLOW)
    await door.send("cancel", chat_id="chat")
    events = await door.until("done")
    assert events[-1]["stop_reason"] == "cancelled"
    assert [r["content"] for r in records(cashcode_home) if r["role"] == "user"] == ["one", SLOW]
    await core.stop()


async def test_a_message_behind_one_whose_chat_cannot_be_opened_is_answered(
    door: Door, core: CashCode, monkeypatch: pytest.MonkeyPatch
):
    async def broken(chat_id: str):
        await asyncio.sleep(0)
        raise RuntimeError("a defect")

    monkeypatch.setattr(core.sessions, "open", broken)
    await door.send("message", chat_id="chat", content="one")
    async with asyncio.timeout(5):
        await door.send("message", chat_id="chat", content="two")
    assert (await door.until("error"))[-1]["code"] == "internal"
