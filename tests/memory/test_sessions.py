from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cashcode_jupyter.memory.chat import CallRecord, PendingMessage
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import (
    BadFrame,
    BadSetting,
    Conflict,
    InvalidChatId,
    NotFound,
    ReadOnly,
    StorageError,
)
from tests.memory.conftest import run_turn
from tests.storage.disks import fill, make_read_only, small_disk


def chat_folders(paths: Paths) -> list[str]:
    if not paths.memory.exists():
        return []
    return sorted(entry.name for entry in paths.memory.iterdir() if not entry.name.startswith("."))


async def whole_list(sessions: Sessions, limit: int) -> list[str]:
    found, before = [], None
    while True:
        rows, before = await sessions.listing(limit=limit, before=before)
        found += [row.chat_id for row in rows]
        if before is None:
            return found


async def write_chat(sessions: Sessions, chat_id: str, title: str = "") -> None:
    chat = await sessions.open(chat_id)
    run_turn(chat, 1)
    if title:
        chat.set_title(title)
    await sessions.release(chat)


async def test_a_new_chat_has_no_folder_before_its_first_record(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    assert chat.messages == [] and chat_folders(paths) == [] and not sessions.exists("chat")
    run_turn(chat, 1)
    assert chat_folders(paths) == ["chat"] and sessions.exists("chat")


async def test_opening_an_open_chat_gives_the_same_object_until_the_last_release(sessions: Sessions) -> None:
    first, second = await asyncio.gather(sessions.open("chat"), sessions.open("chat"))
    assert first is second
    await sessions.release(first)
    run_turn(second, 1)
    await sessions.release(second)
    with pytest.raises(ReadOnly):
        run_turn(second, 2)


async def test_opening_again_reuses_what_is_in_memory(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    await sessions.release(chat)
    assert await sessions.open("chat") is chat


async def test_a_second_writer_is_told_who_writes(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    other = Sessions(paths)
    with pytest.raises(ReadOnly, match="being written by process"):
        await other.open("chat")
    assert len(await other.messages("chat")) == 2, "reading goes on"
    await sessions.release(chat)
    assert len((await other.open("chat")).messages) == 2


async def test_what_another_process_wrote_is_seen(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat")
    other = Sessions(paths)
    chat = await other.open("chat")
    run_turn(chat, 2)
    chat.set_title("From elsewhere")
    await other.release(chat)
    again = await sessions.open("chat")
    assert again.messages == chat.messages and again.title == "From elsewhere"


async def test_a_cancelled_open_leaves_no_lease(sessions: Sessions, paths: Paths) -> None:
    opening = asyncio.create_task(sessions.open("chat"))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    other = Sessions(paths)
    await other.release(await other.open("chat"))
    await sessions.open("chat")


async def test_only_64_chats_stay_in_memory_and_none_that_is_open(sessions: Sessions) -> None:
    held = await sessions.open("held")
    run_turn(held, 1)
    first = await sessions.open("first")
    run_turn(first, 1)
    await sessions.release(first)
    for number in range(70):
        await write_chat(sessions, f"chat-{number}")
    assert await sessions.open("held") is held
    again = await sessions.open("first")
    assert again is not first and again.messages == first.messages


async def test_the_list_is_newest_first_and_its_pages_meet_also_when_times_are_equal(
    sessions: Sessions, write_history
) -> None:
    for number in range(25):
        folder = write_history(f"chat-{number:02}", {"cursor": 1, "role": "user", "content": "x"})
        stamp = 1_700_000_000 + number // 5
        os.utime(folder / "history.jsonl", (stamp, stamp))
    whole = await whole_list(sessions, 1000)
    assert whole == sorted(whole, reverse=True)
    for limit in (1, 4, 5, 7, 25):
        assert await whole_list(sessions, limit) == whole


async def test_rows_have_title_and_time_with_offset(sessions: Sessions, write_history) -> None:
    folder = write_history("seed:1", {"cursor": 1, "role": "user", "content": "x"})
    (folder / "metadata.json").write_text('{"title": "First", "activated_tools": {}}')
    write_history("other", {"cursor": 1, "role": "user", "content": "x"})
    rows, following = await sessions.listing()
    assert {row.chat_id: row.title for row in rows} == {"seed:1": "First", "other": ""}
    assert following is None and all("T" in row.updated_at and row.updated_at[-6] in "+-" for row in rows)


async def test_what_is_no_chat_is_not_listed(sessions: Sessions, write_history, paths: Paths) -> None:
    write_history("good", {"cursor": 1, "role": "user", "content": "x"})
    (paths.memory / "MEMORY.md").write_text("x")
    (paths.memory / "plain").write_text("x")
    (paths.memory / "empty").mkdir()
    (paths.memory / "bad name").mkdir()
    (paths.memory / "link").symlink_to(paths.memory / "good")
    assert await whole_list(sessions, 10) == ["good"]


@pytest.mark.parametrize("mark", ["x", "!!", "汉字", "YWJj", "9" * 5000])
async def test_a_wrong_mark_is_refused(sessions: Sessions, mark: str) -> None:
    with pytest.raises(BadFrame):
        await sessions.listing(before=mark)


async def test_thousands_of_chats_are_listed_without_holding_up_the_loop(sessions: Sessions, write_history) -> None:
    for number in range(2000):
        write_history(f"c{number}", {"cursor": 1, "role": "user", "content": "x"})
    listing = asyncio.create_task(sessions.listing(limit=20))
    steps = 0
    while not listing.done():
        await asyncio.sleep(0)
        steps += 1
    assert len(listing.result()[0]) == 20 and steps > 10


async def test_a_look_at_a_chat_needs_no_lease(sessions: Sessions, paths: Paths) -> None:
    assert (await sessions.peek("nobody")).last_seq == 0
    chat = await sessions.open("chat")
    run_turn(chat, 3)
    chat.set_title("Title")
    chat.put_pending(PendingMessage("w", "waits"))
    seen = await Sessions(paths).peek("chat")
    assert (seen.title, seen.last_seq, seen.waiting) == ("Title", 30, True)


async def test_rename_sets_the_title_that_everybody_sees(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat", "Old")
    answer = await sessions.rename("chat", "  New  ")
    (row,), _next = await sessions.listing()
    assert answer == {"chat_id": "chat", "title": "New", "updated_at": row.updated_at} and row.title == "New"
    assert await sessions.read_title("chat") == "New" and (await sessions.open("chat")).title == "New"


async def test_rename_refuses_blank_titles_and_unknown_chats(sessions: Sessions) -> None:
    await write_chat(sessions, "chat")
    with pytest.raises(BadSetting):
        await sessions.rename("chat", "  ")
    with pytest.raises(NotFound):
        await sessions.rename("nobody", "x")
    assert await sessions.read_title("nobody") == ""


async def test_a_deleted_chat_is_gone_from_disk_and_memory(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat")
    await sessions.delete("chat")
    assert chat_folders(paths) == [] and not list(paths.memory.glob(".trash-*"))
    again = await sessions.open("chat")
    assert again.messages == [] and again.last_seq == 0
    run_turn(again, 5)
    assert len(await sessions.messages("chat")) == 2
    with pytest.raises(NotFound):
        await sessions.delete("nobody")


async def test_a_full_disk_can_be_cleared_by_deleting_a_chat(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        sessions = Sessions(Paths(data=disk, config=tmp_path))
        chat = await sessions.open("chat")
        for number in range(40):
            run_turn(chat, number)
        await sessions.release(chat)
        fill(disk)
        with pytest.raises(StorageError, match="disk is full"):
            await sessions.open("chat")
        await sessions.delete("chat")
        await write_chat(sessions, "new")
        await sessions.aclose()


async def test_a_chat_deleted_elsewhere_is_a_new_one_here(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat")
    await Sessions(paths).delete("chat")
    assert (await sessions.open("chat")).messages == []


async def test_a_chat_that_is_being_written_is_not_deleted(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    for one in (sessions, Sessions(paths)):
        with pytest.raises(ReadOnly):
            await one.delete("chat")
    run_turn(chat, 2)


@pytest.mark.parametrize("bad", ["..", ".", "", "%2e%2e", "a/../b", "x\n", "/etc", "a" * 65, "é"])
async def test_no_id_leads_out_of_the_memory_folder(sessions: Sessions, paths: Paths, bad: str) -> None:
    await write_chat(sessions, "chat")
    for attempt in (
        sessions.delete(bad),
        sessions.open(bad),
        sessions.rename(bad, "x"),
        sessions.messages(bad),
        sessions.branch("chat", 1, bad),
        sessions.branch(bad, 1, "new"),
    ):
        with pytest.raises(InvalidChatId):
            await attempt
    assert not sessions.exists(bad) and chat_folders(paths) == ["chat"]


async def test_a_linked_chat_folder_that_leads_elsewhere_is_refused(
    sessions: Sessions, paths: Paths, tmp_path: Path
) -> None:
    await write_chat(sessions, "chat")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "history.jsonl").write_text("{}\n")
    (paths.memory / "link").symlink_to(outside)
    for attempt in (sessions.delete("link"), sessions.open("link"), sessions.messages("link")):
        with pytest.raises(InvalidChatId):
            await attempt
    assert (outside / "history.jsonl").exists() and not sessions.exists("link")


async def test_deleting_a_plain_file_is_not_found(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat")
    (paths.memory / "plain").write_text("x")
    with pytest.raises(NotFound):
        await sessions.delete("plain")


async def test_a_branch_shares_what_came_before_the_message(sessions: Sessions, paths: Paths) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1, tools=1)
    second = run_turn(chat, 2)
    chat.set_title("Title")
    chat.results.mkdir()
    (chat.results / "c1_0.txt").write_text("whole result")
    await sessions.branch("chat", second, "new")
    fresh = await sessions.open("new")
    assert fresh.messages == chat.messages[:4] and fresh.title == "Title"
    assert (fresh.results / "c1_0.txt").read_text() == "whole result"
    run_turn(fresh, 3)
    assert len(await sessions.messages("chat")) == 4 and len(await sessions.messages("new")) == 4


async def test_a_branch_from_the_first_message_is_an_empty_chat(sessions: Sessions) -> None:
    await write_chat(sessions, "chat")
    await sessions.branch("chat", 1, "new")
    assert sessions.exists("new") and await sessions.messages("new") == []
    assert (await sessions.open("new")).messages == []


async def test_a_branch_needs_a_user_message_and_a_free_id(sessions: Sessions, paths: Paths) -> None:
    await write_chat(sessions, "chat")
    for cursor in (2, 3, 0, 99):
        with pytest.raises(NotFound):
            await sessions.branch("chat", cursor, "new")
    with pytest.raises(NotFound):
        await sessions.branch("nobody", 1, "new")
    with pytest.raises(Conflict):
        await sessions.branch("chat", 1, "chat")
    assert chat_folders(paths) == ["chat"] and not list(paths.memory.glob(".branch-*"))


async def test_a_branch_inside_a_steered_turn_is_legal(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    chat.append_user("first", turn_id="t", message_id="m1")
    chat.append_calls("", [CallRecord("a", "glob", "{}")], turn_id="t")
    cursor = chat.append_user("steer", turn_id="t", message_id="m2")
    await sessions.branch("chat", cursor, "new")
    messages = (await sessions.open("new")).messages
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]


async def test_a_read_only_data_folder_can_be_read_and_says_why_it_cannot_be_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        paths = Paths(data=disk, config=tmp_path)
        first = Sessions(paths)
        await write_chat(first, "chat", "Title")
        await first.aclose()
        make_read_only(disk)
        sessions = Sessions(paths)
        assert [row.title for row in (await sessions.listing())[0]] == ["Title"]
        assert len(await sessions.messages("chat")) == 2
        for attempt in (sessions.open("chat"), sessions.delete("chat"), sessions.rename("chat", "x")):
            with pytest.raises(ReadOnly, match="read-only"):
                await attempt


async def test_two_processes_that_write_one_chat_in_turns_lose_nothing(sessions: Sessions, paths: Paths) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from cashcode_jupyter.paths import Paths\n"
        "from cashcode_jupyter.protocol.errors import ReadOnly\n"
        "from cashcode_jupyter.memory.sessions import Sessions\n"
        "from tests.memory.conftest import run_turn\n"
        "async def main():\n"
        "    sessions = Sessions(Paths(data=Path(sys.argv[1]), config=Path(sys.argv[1])))\n"
        "    done = 0\n"
        "    while done < 15:\n"
        "        try:\n"
        "            chat = await sessions.open('chat')\n"
        "        except ReadOnly:\n"
        "            continue\n"
        "        done += 1\n"
        "        run_turn(chat, int(sys.argv[2]) * 100 + done, tools=1)\n"
        "        await sessions.release(chat)\n"
        "asyncio.run(main())\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, paths.data, str(number)]) for number in (1, 2)]
    assert [child.wait() for child in children] == [0, 0]
    lines = (paths.chat("chat") / "history.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["cursor"] for record in records] == list(range(1, 151))
    turns = [record["turn_id"] for record in records]
    assert all(len(set(turns[start : start + 5])) == 1 for start in range(0, 150, 5))
