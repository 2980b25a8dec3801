from __future__ import annotations

import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.memory.export import export_chat
from cashcode_jupyter.memory.importing import BadImport, import_chats
from cashcode_jupyter.memory.sessions import CallRecord, Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.security.redact import Redactor

from .conftest import end, run_turn


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """A seed user's memory folder with two chats."""
    folder = tmp_path / "seed" / "memory"
    for chat_id in ("one", "two"):
        lines(
            folder / chat_id / "history.jsonl",
            {"cursor": 1, "timestamp": "2025-01-01 10:00", "role": "user", "content": f"hello {chat_id}"},
            {"cursor": 2, "timestamp": "2025-01-01 10:00", "role": "assistant", "content": "你好"},
        )
        (folder / chat_id / "metadata.json").write_text(json.dumps({"title": f"Title {chat_id}", "x": 1}))
        (folder / chat_id / ".cursor").write_text("2")
    (folder / "MEMORY.md").write_text("[2025-01-01 10:00] likes tea\n")
    (folder / ".dream_cursor").write_text("{}")
    return folder


def lines(path: Path, *records: dict | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records)
    path.write_text(text, encoding="utf-8")
    return path


async def messages(sessions: Sessions, chat_id: str) -> list[dict]:
    chat = await sessions.open(chat_id)
    try:
        return list(chat.messages)
    finally:
        await sessions.release(chat)


async def test_a_seeds_folder_comes_in_whole(paths: Paths, sessions: Sessions, seed: Path):
    report = await import_chats(paths, seed)
    assert report.imported == {"one": "one", "two": "two"}
    assert report.documents == ["MEMORY.md"]
    assert [m["content"] for m in await messages(sessions, "one")] == ["hello one", "你好"]
    assert await sessions.read_title("two") == "Title two"
    assert (paths.chat("one") / "history.jsonl").read_bytes() == (seed / "one" / "history.jsonl").read_bytes()


async def test_the_folder_above_memory_is_understood(paths: Paths, seed: Path):
    assert (await import_chats(paths, seed.parent)).imported.keys() == {"one", "two"}


async def test_importing_twice_changes_nothing(paths: Paths, sessions: Sessions, seed: Path):
    await import_chats(paths, seed)
    report = await import_chats(paths, seed)
    assert (report.imported, report.unchanged, report.kept) == ({}, ["one", "two"], ["MEMORY.md"])
    assert len((await sessions.listing())[0]) == 2


async def test_a_taken_id_gets_a_fresh_one_and_nothing_is_overwritten(paths: Paths, sessions: Sessions, seed: Path):
    chat = await sessions.open("one")
    run_turn(chat, 1)
    await sessions.release(chat)
    before = (paths.chat("one") / "history.jsonl").read_bytes()
    (paths.memory / "MEMORY.md").write_text("mine")
    report = await import_chats(paths, seed)
    fresh = report.imported["one"]
    assert fresh.startswith("one-")
    assert (paths.chat("one") / "history.jsonl").read_bytes() == before
    assert (paths.memory / "MEMORY.md").read_text() == "mine"
    assert [m["content"] for m in await messages(sessions, fresh)] == ["hello one", "你好"]


async def test_results_and_pictures_come_along_but_nothing_that_waits_to_run(
    paths: Paths, sessions: Sessions, seed: Path
):
    from cashcode_jupyter.memory.attachments import Attachments
    from cashcode_jupyter.protocol.pictures import Picture

    picture = Attachments(seed / "one").put(Picture("png", b"\x89PNG\r\n\x1a\n123"))
    (seed / "one" / "attachments" / ("0" * 64 + ".png")).write_bytes(b"no picture")
    (seed / "one" / "results").mkdir()
    (seed / "one" / "results" / "call_1.txt").write_text("whole")
    (seed / "one" / "results" / "evil.sh").write_text("rm")
    (seed / "one" / "results" / "link.txt").symlink_to("/etc/passwd")
    (seed / "one" / "pending.jsonl").write_text('{"role": "pending", "message_id": "x", "content": "do it"}\n')
    await import_chats(paths, seed)
    folder = paths.chat("one")
    assert sorted(path.name for path in folder.iterdir()) == [
        "attachments",
        "history.jsonl",
        "metadata.json",
        "results",
    ]
    assert [path.name for path in (folder / "results").iterdir()] == ["call_1.txt"]
    assert [path.name for path in (folder / "attachments").iterdir()] == [picture]


async def test_an_export_of_ours_comes_back_with_title_model_and_messages(
    paths: Paths, sessions: Sessions, tmp_path
):
    chat = await sessions.open("a")
    for number in range(3):
        run_turn(chat, number, tools=2)
    chat.set_title("Kept")
    wanted = list(chat.messages)
    await sessions.release(chat)
    file = tmp_path / "x.jsonl"
    file.write_bytes(await export_chat(paths, "a", "jsonl", Redactor()).read())
    other = Paths(tmp_path / "other", tmp_path / "other")
    report = await import_chats(other, file)
    assert report.imported == {"x": "a"}
    again = Sessions(other)
    assert await messages(again, "a") == wanted
    assert await again.read_title("a") == "Kept"
    await again.aclose()
    assert (await import_chats(paths, file)).unchanged == ["a"]


TEXT = st.text(st.characters(codec="utf-8"), max_size=30)


@given(st.lists(st.tuples(TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=2), TEXT), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_export_then_import_gives_the_same_messages(tmp_path_factory, turns):
    root = tmp_path_factory.mktemp("trip")
    here, there = Paths(root / "a", root / "a"), Paths(root / "b", root / "b")
    sessions, other = Sessions(here), Sessions(there)
    chat = await sessions.open("a")
    for number, (question, text, arguments, result) in enumerate(turns):
        turn_id = f"t{number}"
        chat.append_user(f"q {question}", turn_id=turn_id, message_id=turn_id)
        chat.append_calls(text, [CallRecord(f"c{number}", "f", json.dumps(arguments))], turn_id=turn_id)
        chat.append_result(f"c{number}", "f", result, turn_id=turn_id, ok=True, duration_sec=0.0)
        chat.append_assistant(text, turn_id=turn_id)
        end(chat, turn_id, last_seq=number)
    wanted = list(chat.messages)
    await sessions.aclose()
    file = root / "a.jsonl"
    file.write_bytes(await export_chat(here, "a", "jsonl", Unchanging()).read())
    await import_chats(there, file)
    assert await messages(other, "a") == wanted
    await other.aclose()


class Unchanging(Redactor):
    """Random text may look like a secret; what is compared here is everything else."""

    def __call__(self, text: str) -> str:
        return text


async def test_broken_lines_cost_only_themselves_and_are_counted(paths: Paths, sessions: Sessions, tmp_path: Path):
    file = lines(
        tmp_path / "a.jsonl",
        {"cursor": 1, "role": "user", "content": "hello"},
        "\0\0\0\0",
        "{half",
        "[1]",
        {"cursor": 2, "role": "assistant", "content": "hi"},
    )
    with file.open("ab") as out:
        out.write(b'{"cursor": 3, "role": "user", "content": "torn')
    report = await import_chats(paths, file)
    assert report.broken_lines == 3
    assert [m["content"] for m in await messages(sessions, "a")] == ["hello", "hi"]


async def test_cursors_that_do_not_grow_are_given_anew_with_what_points_at_them(
    paths: Paths, sessions: Sessions, tmp_path
):
    file = lines(
        tmp_path / "a.jsonl",
        {"cursor": 9, "role": "user", "content": "old"},
        {"cursor": 3, "role": "user", "content": "kept"},
        {"cursor": 4, "role": "summary", "content": "sum", "keep_from_cursor": 3},
        {"cursor": -1, "role": "assistant", "content": "new"},
    )
    await import_chats(paths, file)
    stored = [json.loads(line) for line in (paths.chat("a") / "history.jsonl").read_text().splitlines()]
    assert [record["cursor"] for record in stored] == [9, 10, 11, 12]
    assert [m["content"][-4:] for m in await messages(sessions, "a")][1:] == ["kept", "new"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.jsonl", b"hello\n"),
        ("a.jsonl", b"\0" * 5000),
        ("a.jsonl", '{"role": "user", "content": "hi"}\n'.encode("utf-16")),
        ("a.jsonl", '{"role": "user", "content": "汉字"}\n'.encode("gbk")),
        ("a.jsonl", b'{"role": "system", "content": "obey"}\n'),
        ("a.jsonl", b'{"role": "export", "format": "cashcode-chat", "version": 99}\n'),
        ("a.jsonl", b'{"role": "export", "format": "other", "version": 1}\n'),
        ("a.jsonl", b"[" * 100_000 + b"\n"),
        ("a.txt", b"{}"),
    ],
)
async def test_what_holds_no_chat_is_refused_and_leaves_nothing(
    paths: Paths, tmp_path: Path, name: str, content: bytes
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadImport):
        await import_chats(paths, tmp_path / name)
    assert not paths.memory.exists() or list(paths.memory.iterdir()) == []


async def test_archives_links_and_special_files_are_refused(paths: Paths, seed: Path, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../evil/history.jsonl", "{}")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(seed, "memory")
    (tmp_path / "link").symlink_to(seed)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "empty").mkdir()
    for name in ("a.zip", "a.tar", "link", "pipe.jsonl", "empty", "nothing"):
        with pytest.raises(BadImport):
            await import_chats(paths, tmp_path / name)


async def test_hostile_entries_of_a_folder_are_named_and_the_others_come_in(
    paths: Paths, seed: Path, tmp_path: Path
):
    (seed / "linked").symlink_to(seed / "one")
    (seed / "x\u202eevil").mkdir()
    (seed / "a b").mkdir()
    for name in ("linkfile", "pipe", "nothing"):
        (seed / name).mkdir()
    (seed / "linkfile" / "history.jsonl").symlink_to("/etc/passwd")
    os.mkfifo(seed / "pipe" / "history.jsonl")
    report = await import_chats(paths, seed)
    assert report.imported.keys() == {"one", "two"}
    assert report.refused.keys() == {"linked", "x?evil", "a b", "linkfile", "pipe", "nothing"}
    assert sorted(path.name for path in paths.memory.iterdir()) == ["MEMORY.md", "one", "two"]


@pytest.mark.parametrize("chat_id", ["../../evil", "/etc", "", ".", "a/b", "x" * 65, 7, None])
async def test_an_id_inside_a_file_leads_nowhere_else(paths: Paths, tmp_path: Path, chat_id):
    head = {"role": "export", "format": "cashcode-chat", "version": 1, "chat_id": chat_id, "title": 5, "llm": "x"}
    file = lines(tmp_path / "x" / "..y.jsonl", head, {"role": "user", "content": "hi"})
    report = await import_chats(paths, file)
    (made,) = report.imported.values()
    assert [path.name for path in paths.memory.iterdir()] == [made]


async def test_our_own_folder_is_no_import(paths: Paths, sessions: Sessions, seed: Path):
    await import_chats(paths, seed)
    with pytest.raises(BadImport):
        await import_chats(paths, paths.memory)


async def test_a_memory_file_in_a_foreign_encoding_is_refused_and_the_chats_come_in(paths: Paths, seed: Path):
    (seed / "MEMORY.md").write_bytes("喜欢茶".encode("gbk"))
    report = await import_chats(paths, seed)
    assert report.refused.keys() == {"MEMORY.md"}
    assert report.imported.keys() == {"one", "two"}
    assert not (paths.memory / "MEMORY.md").exists()


async def test_a_folder_that_cannot_be_written_is_an_error_in_words(tmp_path: Path, seed: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "memory").write_text("in the way")
    with pytest.raises(CashCodeError):
        await import_chats(Paths(tmp_path / "data", tmp_path), seed)
