from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from cashcode_jupyter.memory import metadata
from cashcode_jupyter.memory.chat import CallRecord, PendingMessage
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import BadSetting, ReadOnly, StorageError
from cashcode_jupyter.protocol.events import ModelChoice
from tests.memory.conftest import end, run_turn
from tests.storage.disks import fill, small_disk


def stored(paths: Paths, chat_id: str = "chat") -> list[dict]:
    lines = (paths.chat(chat_id) / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def reopened(paths: Paths, chat_id: str = "chat"):
    """The chat as another process finds it."""
    return await Sessions(paths).open(chat_id)


async def test_records_have_the_shapes_of_the_seed(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    chat.append_user("hi", turn_id="t", message_id="m", extra={"mentioned_skills": [{"name": "x"}]})
    chat.append_calls("look", [CallRecord("c1", "glob", "{}"), CallRecord("c2", "grep", "{}")], turn_id="t")
    chat.append_result("c1", "glob", "a", turn_id="t", ok=True, duration_sec=0.1)
    user, calls, result = stored(paths)
    assert user["cursor"] == 1 and user["role"] == "user" and user["mentioned_skills"] == [{"name": "x"}]
    assert calls["role"] == "tool_calls" and calls["content"] == "[TOOL_CALLS: glob, grep]"
    assert calls["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "glob", "arguments": "{}"},
    }
    assert (result["role"], result["tool_call_id"], result["name"]) == ("tool", "c1", "glob")


async def test_a_resumed_chat_has_the_messages_of_the_live_one(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    chat.append_user("hi", turn_id="t1", message_id="m1", model_content="hi\n\n<context>df</context>")
    chat.append_calls("", [CallRecord("c1", "glob", "{}")], turn_id="t1", reasoning="hmm")
    chat.append_result("c1", "glob", "", turn_id="t1", ok=True, duration_sec=0.1)
    chat.append_assistant("ho", turn_id="t1", reasoning="aha", partial=True)
    end(chat, "t1")
    run_turn(chat, 2, tools=2)
    await sessions.release(chat)
    again = await reopened(paths)
    assert again.messages == chat.messages
    assert again.messages[:4] == [
        {"role": "user", "content": "hi\n\n<context>df</context>"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "glob", "arguments": "{}"}}],
            "reasoning_content": "hmm",
        },
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": "ho", "reasoning_content": "aha"},
    ]


async def test_event_numbers_go_on_after_a_restart(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 7)
    assert chat.last_seq == 70
    await sessions.release(chat)
    assert (await reopened(paths)).last_seq == 70


async def test_a_turn_that_was_killed_between_call_and_result_is_closed_without_running_it_again(
    sessions: Sessions, paths: Paths
) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    chat.append_user("go", turn_id="t2", message_id="m2")
    chat.append_calls("", [CallRecord("a", "glob", "{}"), CallRecord("b", "exec", "{}")], turn_id="t2")
    chat.append_result("a", "glob", "done", turn_id="t2", ok=True, duration_sec=0.1)
    await sessions.release(chat)
    again = await reopened(paths)
    *_rest, result, closing = stored(paths)
    assert (result["tool_call_id"], result["name"], result["ok"]) == ("b", "exec", False)
    assert "outcome is unknown" in result["content"]
    assert (closing["role"], closing["turn_id"], closing["stop_reason"]) == ("turn", "t2", "interrupted")
    assert again.messages[-1] == {"role": "tool", "tool_call_id": "b", "content": result["content"]}
    assert again.last_seq == 10 + 1_000_000


async def test_a_turn_killed_before_its_closing_record_is_closed_once(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1, close=False)
    await sessions.release(chat)
    first = Sessions(paths)
    await first.release(await first.open("chat"))
    second = await reopened(paths)
    assert [record["role"] for record in stored(paths)] == ["user", "assistant", "turn"]
    assert second.last_seq == 1_000_000


async def test_a_full_disk_stores_nothing_half_and_says_so(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        paths = Paths(data=disk, config=tmp_path)
        sessions = Sessions(paths)
        chat = await sessions.open("chat")
        run_turn(chat, 1)
        before, history = list(chat.messages), stored(paths)
        filler = fill(disk)
        with pytest.raises(StorageError, match="disk is full, so the chat"):
            chat.append_user("x" * 50_000, turn_id="t2", message_id="m2")
        assert chat.messages == before and stored(paths) == history
        filler.unlink()
        run_turn(chat, 3)
        await sessions.release(chat)
        assert (await reopened(paths)).messages == chat.messages


async def test_a_turn_whose_end_could_not_be_written_is_closed_by_the_next_open(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        sessions = Sessions(Paths(data=disk, config=tmp_path))
        chat = await sessions.open("chat")
        run_turn(chat, 1)
        chat.append_user("go", turn_id="t2", message_id="m2")
        chat.append_calls("", [CallRecord("a", "exec", "{}")], turn_id="t2")
        filler = fill(disk)
        with pytest.raises(StorageError):
            chat.append_result("a", "exec", "x" * 9000, turn_id="t2", ok=True, duration_sec=0.1)
        filler.unlink()
        await sessions.release(chat)
        again = await sessions.open("chat")
        assert "outcome is unknown" in again.messages[-1]["content"] and again.open_turn is None


async def test_title_and_model_are_remembered_beside_fields_of_the_seed(sessions: Sessions, paths: Paths) -> None:
    folder = paths.chat("chat")
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"title": "Old", "activated_tools": {"mcp_a": 1.5}}')
    chat = await sessions.open("chat")
    assert chat.title == "Old" and chat.llm is None
    chat.set_title("  New title ")
    chat.set_llm(ModelChoice(provider="ollama", model="qwen3"))
    await sessions.release(chat)
    again = await reopened(paths)
    assert (again.title, again.llm) == ("New title", ModelChoice(provider="ollama", model="qwen3"))
    assert json.loads((folder / "metadata.json").read_text())["activated_tools"] == {"mcp_a": 1.5}


@pytest.mark.parametrize("content", [b"", b"{broken", b"[1]", b"\xff\xfe", b"\0" * 100])
async def test_broken_metadata_costs_only_itself(sessions: Sessions, write_history, content: bytes) -> None:
    folder = write_history("chat", {"cursor": 1, "role": "user", "content": "hi"})
    (folder / "metadata.json").write_bytes(content)
    chat = await sessions.open("chat")
    assert chat.title == "" and chat.messages[0]["content"] == "hi"
    assert (folder / "metadata.json.corrupt").read_bytes() == content
    chat.set_title("New")
    assert json.loads((folder / "metadata.json").read_text()) == {"title": "New"}


async def test_a_blank_title_is_refused(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    with pytest.raises(BadSetting):
        chat.set_title(" \n ")


async def test_waiting_messages_survive_a_restart_in_order(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    items = [PendingMessage(f"w{i}", f"text {i}", "steer" if i == 1 else "queue", {"llm": None}) for i in range(3)]
    for item in items:
        chat.put_pending(item)
    chat.take_pending("w0")
    await sessions.release(chat)
    again = await reopened(paths)
    assert again.pending == items[1:]


async def test_a_waiting_message_that_is_in_the_history_waits_no_more(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    chat.put_pending(PendingMessage("w0", "first"))
    chat.put_pending(PendingMessage("w1", "second"))
    before = (paths.chat("chat") / "pending.jsonl").read_bytes()
    chat.append_user("first", turn_id="t1", message_id="w0")
    assert [item.message_id for item in chat.pending] == ["w1"]
    end(chat, "t1")
    await sessions.release(chat)
    (paths.chat("chat") / "pending.jsonl").write_bytes(before)
    assert [item.message_id for item in (await reopened(paths)).pending] == ["w1"]


async def test_an_empty_queue_leaves_no_file(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    for number in range(2):
        chat.put_pending(PendingMessage(f"w{number}", "text"))
        chat.take_pending(f"w{number}")
    assert chat.pending == [] and not (paths.chat("chat") / "pending.jsonl").exists()
    chat.sync()


async def test_a_waiting_message_whose_metadata_a_hand_broke_is_still_answered(
    sessions: Sessions, paths: Paths
) -> None:
    chat = await sessions.open("chat")
    chat.put_pending(PendingMessage("w0", "first", metadata={"llm": "x"}))
    chat.put_pending(PendingMessage("w1", "second", metadata={"ref": "r"}))
    await sessions.release(chat)
    assert (await reopened(paths)).pending == [
        PendingMessage("w0", "first"),
        PendingMessage("w1", "second", metadata={"ref": "r"}),
    ]


async def test_a_waiting_message_without_words_is_not_asked(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    chat.put_pending(PendingMessage("w0", "  "))
    await sessions.release(chat)
    assert (await reopened(paths)).pending == []


async def test_after_release_nothing_can_be_written(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    await sessions.release(chat)
    with pytest.raises(ReadOnly):
        chat.append_user("x", turn_id="t", message_id="m")


TURNS = (
    "import asyncio, sys\n"
    "from pathlib import Path\n"
    "from cashcode_jupyter.paths import Paths\n"
    "from cashcode_jupyter.memory.sessions import Sessions\n"
    "from tests.memory.conftest import run_turn\n"
    "async def main():\n"
    "    sessions = Sessions(Paths(data=Path(sys.argv[1]), config=Path(sys.argv[1])))\n"
    "    chat = await sessions.open('chat')\n"
    "    print('ready', flush=True)\n"
    "    number = 0\n"
    "    while True:\n"
    "        number += 1\n"
    "        run_turn(chat, number, tools=3)\n"
    "        chat.sync()\n"
    "asyncio.run(main())\n"
)


async def test_a_process_killed_at_any_moment_leaves_a_legal_history_and_a_free_lease(paths: Paths) -> None:
    for _trial in range(6):
        child = subprocess.Popen([sys.executable, "-c", TURNS, paths.data], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        history = paths.chat("chat") / "history.jsonl"
        size = history.stat().st_size if history.exists() else 0
        while not history.exists() or history.stat().st_size < size + 3000:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        chat = await reopened(paths)
        called = [call["id"] for message in chat.messages for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in chat.messages if message["role"] == "tool"]
        assert called == answered and stored(paths)[-1]["role"] == "turn"
        chat.close()
        assert chat.lease is not None
        chat.lease.release()


@pytest.mark.parametrize("ns", [10**23, -(10**23), 0])
def test_a_file_stamp_that_no_calendar_has_is_still_a_time(ns: int) -> None:
    assert datetime.fromisoformat(metadata.iso(ns)).utcoffset() is not None
