from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cashcode_jupyter.protocol.errors import ReadOnly, StorageError
from cashcode_jupyter.storage import atomic
from tests.storage.disks import fill, make_read_only, small_disk


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_new_content_replaces_the_old_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "settings.json"
    atomic.replace(file, b"one")
    atomic.replace(file, b"two")
    assert file.read_bytes() == b"two"
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_a_private_file_and_the_folders_made_for_it_are_for_the_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "cashcode" / "settings" / "llm.json"
    atomic.replace(file, b"{}", private=True)
    assert [mode(file), mode(file.parent), mode(file.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_private_write_closes_a_file_that_was_open_to_others(tmp_path: Path) -> None:
    file = tmp_path / "llm.json"
    file.write_bytes(b"old")
    file.chmod(0o644)
    atomic.replace(file, b"new", private=True)
    assert mode(file) == 0o600


def test_a_file_keeps_the_mode_that_its_owner_gave_it(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    atomic.replace(file, b"new")
    assert mode(file) == 0o640


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere.md", tmp_path / "SOUL.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    atomic.replace(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file_and_is_said_in_words(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        file = disk / "MEMORY.md"
        atomic.replace(file, b"precious")
        fill(disk)
        with pytest.raises(StorageError, match="disk is full, so the memory"), atomic.storage_errors("the memory"):
            atomic.replace(file, b"x" * 100_000)
        assert file.read_bytes() == b"precious"
        assert sorted(path.name for path in disk.iterdir()) == ["MEMORY.md", "filler"]


def test_a_read_only_disk_is_said_in_words(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        make_read_only(disk)
        with pytest.raises(ReadOnly, match="Cannot use the memory"), atomic.storage_errors("the memory"):
            atomic.replace(disk / "MEMORY.md", b"x")


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (errno.ENOSPC, StorageError, "full"),
        (errno.EDQUOT, StorageError, "full"),
        (errno.EROFS, ReadOnly, "read-only"),
        (errno.EACCES, ReadOnly, "permissions"),
        (errno.EIO, StorageError, "Input/output error"),
    ],
)
def test_every_disk_error_becomes_a_sentence_without_a_path(number: int, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words) as caught, atomic.storage_errors("the chat"):
        raise OSError(number, os.strerror(number), "/home/somebody/secret-place")
    assert "the chat" in caught.value.detail and "secret-place" not in caught.value.detail


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    old, new = b"a" * 3_000_000, b"b" * 3_000_000
    atomic.replace(file, old)
    script = (
        "import sys; from pathlib import Path; from cashcode_jupyter.storage.atomic import replace\n"
        "print(flush=True)\n"
        "while True:\n"
        "    replace(Path(sys.argv[1]), b'b' * 3_000_000); replace(Path(sys.argv[1]), b'a' * 3_000_000)\n"
    )
    for _trial in range(3):
        child = subprocess.Popen([sys.executable, "-c", script, file], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        inode = file.stat().st_ino
        while file.stat().st_ino == inode:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert file.read_bytes() in (old, new)
