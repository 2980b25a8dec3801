from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.cli.lines import Splitter

PIECES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\0", b"\n")))


def split(pieces: list[bytes], limit: int) -> list[bytes | None]:
    splitter = Splitter(limit)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.end()]


@given(PIECES, st.integers(1, 40))
def test_the_lines_are_the_same_however_the_bytes_come(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    assert split(pieces, limit) == split([whole], limit)


@given(PIECES, st.integers(1, 40))
def test_only_a_line_over_the_limit_is_dropped_and_said(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    lines = whole.split(b"\n")
    if not lines[-1]:
        lines.pop()
    assert split(pieces, limit) == [line if len(line) <= limit else None for line in lines]
