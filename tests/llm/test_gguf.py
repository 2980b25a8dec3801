from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.llm.gguf import read_head
from cashcode_jupyter.protocol.errors import BadSetting

from .gguf_files import MODEL, gguf, write


def test_the_head_says_architecture_context_and_the_price_of_a_token(tmp_path: Path) -> None:
    head = read_head(write(tmp_path / "m.gguf"))
    assert (head.architecture, head.context_length) == ("llama", 1024)
    assert head.kv_bytes == 2 * 2 * (16 + 16) * 2  # layers, heads, key and value width, 16 bit


def test_a_count_of_heads_for_each_layer_counts_as_the_largest(tmp_path: Path) -> None:
    values = MODEL | {"llama.attention.head_count_kv": [1, 4]}
    assert read_head(write(tmp_path / "m.gguf", gguf(values))).kv_bytes == 2 * 4 * (16 + 16) * 2


def test_a_head_without_the_usual_entries_is_read_all_the_same(tmp_path: Path) -> None:
    head = read_head(write(tmp_path / "m.gguf", gguf({"general.name": "x"})))
    assert (head.architecture, head.context_length, head.kv_bytes) == ("", None, None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a GGUF file"),
        (b"PK\x03\x04 a zip", "is not a GGUF file"),
        (gguf(version=1), "of version 1"),
        (b"GGUF\0\0\0\x03" + b"\0" * 16, "of version"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "header is not valid"),
        (gguf()[:60], "header is not valid"),
        (gguf()[:-64], "its end is missing"),
    ],
)
def test_what_is_no_whole_gguf_file_is_refused_with_the_reason(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(BadSetting, match=said):
        read_head(write(tmp_path / "m.gguf", data))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(at=st.integers(4, len(gguf()) - 65), junk=st.binary(min_size=1, max_size=16))
def test_damage_anywhere_in_the_head_is_a_refusal_or_a_reading_never_a_crash(
    tmp_path: Path, at: int, junk: bytes
) -> None:
    whole = gguf()
    path = write(tmp_path / "m.gguf", whole[:at] + junk + whole[at + len(junk) :])
    try:
        read_head(path)
    except BadSetting as error:
        assert "m.gguf" in error.detail
