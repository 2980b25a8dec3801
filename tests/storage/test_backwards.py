from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.storage import backwards
from cashcode_jupyter.storage.backwards import read_backwards


def write(path: Path, *lines: str | bytes | dict) -> Path:
    made = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in made))
    return path


def cursors(path: Path, before: int | None = None) -> list[int]:
    return [entry.cursor for entry in read_backwards(path, before=before)]


def broken(path: Path) -> list[int]:
    found: list[int] = []
    list(read_backwards(path, on_broken=found.append))
    return found


def test_records_come_newest_first_with_their_offsets(tmp_path: Path) -> None:
    path = write(tmp_path / "h", {"cursor": 1}, {"cursor": 2}, {"cursor": 3})
    entries = list(read_backwards(path))
    assert [entry.cursor for entry in entries] == [3, 2, 1]
    data = path.read_bytes()
    assert all(json.loads(data[entry.offset :].split(b"\n")[0]) == entry.record for entry in entries)


def test_a_missing_file_and_an_empty_file_have_no_records(tmp_path: Path) -> None:
    assert cursors(tmp_path / "none") == []
    assert cursors(write(tmp_path / "empty")) == []


def test_broken_lines_cost_only_themselves_and_are_reported(tmp_path: Path) -> None:
    path = write(
        tmp_path / "h",
        {"cursor": 1},
        b'{"cursor": 2, "content": "caf\xe9"}',
        "no json",
        "[1, 2]",
        "[" * 100_000,
        '{"n": ' + "9" * 5000 + "}",
        b"\0" * 5000,
        {"cursor": 3},
    )
    assert cursors(path) == [3, 1]
    assert len(broken(path)) == 6


def test_a_record_behind_a_block_of_nul_bytes_is_read_and_the_block_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "h", {"cursor": 1}, b"\0" * 4096 + b'{"cursor": 2}')
    assert cursors(path) == [2, 1]
    assert len(broken(path)) == 1


def test_a_byte_order_mark_carriage_returns_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_bytes(b'\xef\xbb\xbf{"cursor": 1}\r\n\r\n\n{"cursor": 2}\r\n')
    assert cursors(path) == [2, 1]
    assert broken(path) == []


def test_a_line_that_is_still_being_written_is_neither_shown_nor_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "h", {"cursor": 1})
    with path.open("ab") as file:
        file.write(b'{"cursor": 2, "conte')
    assert cursors(path) == [1]
    assert broken(path) == []


def test_a_last_line_without_newline_that_is_whole_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_bytes(b'{"cursor": 1}\n{"cursor": 2}')
    assert cursors(path) == [2, 1]


def test_one_record_of_many_megabytes_is_read(tmp_path: Path) -> None:
    text = "x" * 20_000_000
    path = write(tmp_path / "h", {"cursor": 1}, {"cursor": 2, "content": text}, {"cursor": 3})
    entries = list(read_backwards(path))
    assert [entry.cursor for entry in entries] == [3, 2, 1] and entries[1].record["content"] == text


def test_records_without_a_number_count_on_from_the_one_before(tmp_path: Path) -> None:
    path = write(tmp_path / "h", {"a": 1}, {"cursor": 5}, {"cursor": "7"}, {"cursor": True}, {"cursor": 9}, {})
    assert cursors(path) == [10, 9, 7, 6, 5, 1]


def test_a_history_without_any_number_counts_from_one(tmp_path: Path) -> None:
    assert cursors(write(tmp_path / "h", {"a": 1}, {"a": 2}, {"a": 3})) == [3, 2, 1]


@given(
    sizes=st.lists(st.integers(0, 300), max_size=60),
    junk=st.sets(st.integers(0, 59)),
    block=st.integers(1, 500),
    before=st.none() | st.integers(0, 70),
)
def test_reading_backwards_is_reading_forwards_reversed(
    tmp_path_factory, sizes: list[int], junk: set[int], block: int, before: int | None
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "h"
    lines: list[str | dict] = []
    for number, size in enumerate(sizes, 1):
        lines.append("broken" * size if number in junk else {"cursor": number, "content": "é" * size})
    write(path, *lines)
    wanted = [line for line in lines if isinstance(line, dict) and (before is None or line["cursor"] < before)]
    original, backwards.BLOCK = backwards.BLOCK, block
    try:
        assert [entry.record for entry in read_backwards(path, before=before)] == wanted[::-1]
    finally:
        backwards.BLOCK = original


def test_an_old_place_in_a_long_history_is_found_without_reading_what_is_newer(tmp_path: Path, bytes_read) -> None:
    path = write(tmp_path / "h", *({"cursor": number, "content": "x" * 250} for number in range(1, 50_001)))
    with bytes_read() as read:
        assert next(read_backwards(path, before=1000)).cursor == 999
    assert read.count < 3_000_000 < path.stat().st_size / 4
