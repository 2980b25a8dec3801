from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.protocol.errors import ReadOnly, StorageError
from cashcode_jupyter.storage.ledger import Ledger
from tests.storage.disks import fill, make_read_only, small_disk


def records(path: Path) -> list[dict]:
    return list(Ledger.open(path).backwards())[::-1]


def contents(path: Path) -> list[str]:
    return [record["content"] for record in records(path)]


def test_a_record_is_one_line_with_cursor_and_timestamp_first(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "chat" / "history.jsonl")
    assert [ledger.append({"role": "user", "content": "hé\u2028llo"}), ledger.append({"content": "2"})] == [1, 2]
    line = ledger.path.read_text(encoding="utf-8").split("\n")[0]
    assert list(json.loads(line)) == ["cursor", "timestamp", "role", "content"] and "hé\u2028llo" in line


def test_the_file_appears_with_the_first_record(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "chat" / "history.jsonl")
    assert list(ledger.backwards()) == [] and not ledger.path.parent.exists()
    ledger.append({})
    assert ledger.path.exists()


def test_cursors_go_on_after_the_last_good_line_and_a_seed_cursor_file_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"cursor": 7, "content": "a"}\nbroken\n')
    (tmp_path / ".cursor").write_text("3")
    ledger = Ledger.open(path)
    assert ledger.last_cursor == 7 and ledger.append({"content": "b"}) == 8
    assert contents(path) == ["a", "b"] and ledger.broken_lines == 1


def test_records_without_cursor_count_on(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"cursor": 3}\n{"content": "by hand"}\n{"cursor": "x"}\n')
    assert Ledger.open(path).append({}) == 6


def test_a_torn_last_line_is_moved_aside_before_any_append(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"cursor": 1, "content": "a"}\n{"cursor": 2, "cont')
    ledger = Ledger.open(path)
    assert path.read_bytes() == b'{"cursor": 1, "content": "a"}\n'
    ledger.append({"content": "b"})
    assert contents(path) == ["a", "b"]
    assert (tmp_path / "history.jsonl.corrupt").read_bytes() == b'{"cursor": 2, "cont\n'


def test_torn_lines_are_collected(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for torn in (b'{"one', b"\0\0\0"):
        with path.open("ab") as file:
            file.write(torn)
        Ledger.open(path).close()
    assert (tmp_path / "history.jsonl.corrupt").read_bytes() == b'{"one\n\0\0\0\n' and path.read_bytes() == b""


def test_a_whole_last_record_without_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"cursor": 1, "content": "a"}')
    assert Ledger.open(path).append({"content": "b"}) == 2
    assert contents(path) == ["a", "b"] and not (tmp_path / "history.jsonl.corrupt").exists()


@pytest.mark.parametrize("text", ["", "\n\n", "\ud83d lone", "\0", 'quote " and \\ back', "汉字", "x" * 3_000_000])
def test_any_text_comes_back_unchanged(tmp_path: Path, text: str) -> None:
    Ledger.open(tmp_path / "h").append({"content": text})
    assert contents(tmp_path / "h") == [text]


SAMPLE = [{"content": "é" * 40}, {"content": 'line\n"quoted"'}, {"content": ""}, {"content": "漢字"}]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_file_cut_at_any_byte_loses_at_most_the_cut_record(tmp_path_factory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cut") / "h"
    ledger = Ledger.open(path)
    ends = [0]
    for record in SAMPLE:
        ledger.append(record)
        ends.append(path.stat().st_size)
    ledger.close()
    cut = data.draw(st.integers(0, ends[-1]))
    os.truncate(path, cut)
    whole = sum(end - 1 <= cut for end in ends[1:])
    reopened = Ledger.open(path)
    assert reopened.append({"content": "next"}) == whole + 1
    assert contents(path) == [record["content"] for record in SAMPLE[:whole]] + ["next"]


def test_what_append_returned_for_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from cashcode_jupyter.storage.ledger import Ledger\n"
        "ledger = Ledger.open(Path(sys.argv[1]))\n"
        "while True:\n"
        "    cursor = ledger.append({'content': 'x' * 20_000})\n"
        "    sys.stdout.write(f'{cursor}\\n'); sys.stdout.flush()\n"
    )
    pid_of = [sys.executable, "-c", script]
    for trial in range(40):
        path = tmp_path / f"{trial % 4}"
        before = Ledger.open(path).last_cursor
        child = subprocess.Popen([*pid_of, path], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _line in range(1 + trial % 9):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()
        rest = child.stdout.read().split(b"\n")[:-1]
        child.stdout.close()
        acknowledged = max([before + 1 + trial % 9, *(int(line) for line in rest)])
        found = [record["cursor"] for record in records(path)]
        assert found == list(range(1, len(found) + 1)) and len(found) >= acknowledged


def test_a_full_disk_undoes_the_record_and_the_next_append_works(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        path = disk / "history.jsonl"
        ledger = Ledger.open(path)
        ledger.append({"content": "a"})
        filler = fill(disk)
        good = path.read_bytes()
        with pytest.raises(StorageError, match="disk is full"):
            ledger.append({"content": "x" * 50_000})
        assert path.read_bytes() == good and ledger.last_cursor == 1
        filler.unlink()
        assert ledger.append({"content": "b"}) == 2
        ledger.close()
        assert contents(path) == ["a", "b"]


def test_a_write_that_is_cut_short_is_undone(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    ledger = Ledger.open(path)
    ledger.append({"content": "a"})
    good = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(StorageError):
            ledger.append({"content": "x" * 5000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == good
    assert ledger.append({"content": "b"}) == 2
    assert contents(path) == ["a", "b"]


def test_a_half_record_that_could_not_be_undone_is_undone_by_the_next_append(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    ledger = Ledger.open(path)
    ledger.append({"content": "a"})

    def fails(fd: int, size: int) -> None:
        raise OSError(5, "Input/output error")

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with monkeypatch.context() as broken:
        broken.setattr(os, "ftruncate", fails)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            with pytest.raises(StorageError):
                ledger.append({"content": "x" * 5000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.stat().st_size == 1000
    assert ledger.append({"content": "b"}) == 2
    assert contents(path) == ["a", "b"]


def test_a_read_only_disk_is_said_in_words_and_can_still_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        ledger = Ledger.open(disk / "h")
        ledger.append({"content": "a"})
        ledger.close()
        make_read_only(disk)
        with pytest.raises(ReadOnly, match="Cannot use the chat"):
            Ledger.open(disk / "h")
        with pytest.raises(ReadOnly):
            Ledger.open(disk / "new" / "h").append({})


def test_a_torn_tail_on_a_full_disk_is_not_thrown_away(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        path = disk / "h"
        path.write_bytes(b'{"cursor": 1}\n' + b"x" * 9000)
        before = path.read_bytes()
        filler = fill(disk)
        with pytest.raises(StorageError, match="disk is full"):
            Ledger.open(path)
        assert path.read_bytes() == before
        filler.unlink()
        assert Ledger.open(path).append({}) == 2
        assert (disk / "h.corrupt").read_bytes() == b"x" * 9000 + b"\n"


def test_opening_reads_the_same_number_of_bytes_at_any_length(tmp_path: Path, bytes_read) -> None:
    counts = []
    for length in (1000, 1_000_000):
        path = tmp_path / f"{length}"
        line = json.dumps({"cursor": 1000, "role": "user", "content": "x" * 100}) + "\n"
        path.write_text(line * length)
        with bytes_read() as read:
            Ledger.open(path).close()
        counts.append(read.count)
    assert counts[1] < counts[0] + 100 < 200_000


def test_it_notices_when_others_append_replace_or_remove(tmp_path: Path) -> None:
    path = tmp_path / "h"
    ledger = Ledger.open(path)
    assert not ledger.changed_outside()
    ledger.append({})
    assert not ledger.changed_outside()
    with path.open("ab") as file:
        file.write(b"{}\n")
    assert ledger.changed_outside()
    path.unlink()
    assert ledger.changed_outside()


def test_what_others_added_is_kept_and_counted_on(tmp_path: Path) -> None:
    path = tmp_path / "h"
    ledger = Ledger.open(path)
    ledger.append({"content": "a"})
    editor = tmp_path / "edited"
    editor.write_text('{"cursor": 1, "content": "A"}\n{"cursor": 2, "content": "B"}\n')
    editor.replace(path)
    assert ledger.append({"content": "c"}) == 3
    assert contents(path) == ["A", "B", "c"] and ledger.changed_outside()


def test_a_file_that_was_removed_is_not_made_again_from_its_middle(tmp_path: Path) -> None:
    path = tmp_path / "h"
    ledger = Ledger.open(path)
    ledger.append({})
    path.unlink()
    with pytest.raises(StorageError, match="removed"):
        ledger.append({})
    assert not path.exists()


async def test_sync_returns_when_all_is_on_the_disk_and_may_be_called_on_an_empty_ledger(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "chat" / "h")
    ledger.sync()
    ledger.append({"content": "a"})
    ledger.sync()
    assert contents(ledger.path) == ["a"]


def test_a_link_in_the_place_of_a_ledger_is_not_written(tmp_path: Path):
    other = tmp_path / "other.txt"
    other.write_text("mine\n")
    (tmp_path / "history.jsonl").symlink_to(other)
    with pytest.raises(StorageError):
        Ledger.open(tmp_path / "history.jsonl").append({"role": "user", "content": "x"})
    assert other.read_text() == "mine\n"
