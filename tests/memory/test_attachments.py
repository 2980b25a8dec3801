from __future__ import annotations

import os
from pathlib import Path

import pytest

from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.protocol.pictures import Picture

PNG = Picture("png", b"\x89PNG\r\n\x1a\n one")


def receipt(file: str) -> dict:
    return {"context": [{"kind": "image", "label": "plot.png", "file": file, "bytes": 12, "mime": "image/png"}]}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "attachments").iterdir())


def test_a_picture_is_kept_once_under_the_name_of_its_content(tmp_path: Path):
    kept = Attachments(tmp_path)
    assert kept.put(PNG) == kept.put(PNG) == PNG.file
    assert files(tmp_path) == [PNG.file]
    assert kept.read(PNG.file) == PNG.data and kept.size(PNG.file) == len(PNG.data)


def test_a_file_that_was_cut_short_is_made_whole_again(tmp_path: Path):
    kept = Attachments(tmp_path)
    path = tmp_path / "attachments" / kept.put(PNG)
    path.write_bytes(b"\x89P")
    kept.put(PNG)
    assert kept.read(PNG.file) == PNG.data


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_a_picture_is_for_its_owner_only(tmp_path: Path):
    path = tmp_path / "attachments" / Attachments(tmp_path).put(PNG)
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_what_a_hand_put_there_is_not_shown(tmp_path: Path):
    kept = Attachments(tmp_path)
    folder = tmp_path / "attachments"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(PNG.data)
    (folder / PNG.file).symlink_to(secret)
    assert kept.read(PNG.file) is None and kept.size(PNG.file) is None
    (folder / f"{'0' * 64}.gif").write_bytes(b"<html>")
    assert kept.read(f"{'0' * 64}.gif") is None
    assert kept.read("../secret") is None and kept.size("../secret") is None


def test_a_disk_that_refuses_is_said_in_words(tmp_path: Path):
    (tmp_path / "attachments").write_text("in the way")
    with pytest.raises(CashCodeError, match="picture"):
        Attachments(tmp_path).put(PNG)


async def test_a_branch_has_the_pictures_and_keeps_them_when_the_first_chat_goes(tmp_path: Path):
    sessions = Sessions(Paths(data=tmp_path / "data", config=tmp_path / "config"))
    chat = await sessions.open("one")
    file = chat.attachments.put(PNG)
    cursor = chat.append_user("look", turn_id="t", message_id="m", extra=receipt(file))
    chat.end_turn("t", stop_reason="answered", usage={}, duration_sec=0, last_seq=1, tool_calls=0)
    later = chat.append_user("next", turn_id="u", message_id="n")
    chat.end_turn("u", stop_reason="answered", usage={}, duration_sec=0, last_seq=2, tool_calls=0)
    await sessions.settle(chat)
    await sessions.branch("one", later, "two")
    await sessions.branch("one", cursor, "three")
    await sessions.delete("one")
    assert not (tmp_path / "data" / "memory" / "one").exists()
    branched = await sessions.open("two")
    assert branched.messages == [
        {"role": "user", "content": "look", "pictures": [{"file": file, "label": "plot.png"}]}
    ]
    assert branched.attachments.read(file) == PNG.data
    await sessions.release(branched)
    assert Attachments(tmp_path / "data" / "memory" / "three").read(file) == PNG.data
    await sessions.aclose()


async def test_a_loaded_chat_has_the_message_that_the_live_one_had(tmp_path: Path):
    paths = Paths(data=tmp_path / "data", config=tmp_path / "config")
    sessions = Sessions(paths)
    chat = await sessions.open("one")
    chat.append_user("look", turn_id="t", message_id="m", extra=receipt(chat.attachments.put(PNG)))
    chat.end_turn("t", stop_reason="answered", usage={}, duration_sec=0, last_seq=1, tool_calls=0)
    live = list(chat.messages)
    await sessions.settle(chat)
    await sessions.aclose()
    again = Sessions(paths)
    loaded = await again.open("one")
    assert loaded.messages == live and live[0]["pictures"]
    await again.release(loaded)
    await again.aclose()
