from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cashcode_jupyter.memory.longterm import LongTerm, Persona, StaleDocument
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import BadSetting, ReadOnly, StorageError
from tests.storage.disks import fill, make_read_only, small_disk


@pytest.fixture
def memory(paths: Paths) -> LongTerm:
    paths.memory.mkdir(parents=True)
    return LongTerm(paths)


@pytest.fixture
def persona(paths: Paths) -> Persona:
    return Persona(paths)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_no_memory_is_an_empty_text(paths: Paths) -> None:
    assert (LongTerm(paths).read().text, LongTerm(paths).read().hash) == ("", sha(b""))


def test_remembered_facts_are_lines_with_date_and_time(memory: LongTerm, paths: Paths) -> None:
    paths.long_term.write_text("# Notes without newline")
    memory.remember("  Her name is Ada.  ")
    memory.remember("汉字")
    first, second, third = paths.long_term.read_text(encoding="utf-8").splitlines()
    assert first == "# Notes without newline"
    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\] Her name is Ada\.", second) and third.endswith("] 汉字")


@pytest.mark.parametrize("content", ["", " \n ", "name is Ada", "name  is\nAda"])
def test_blank_and_known_facts_add_nothing(memory: LongTerm, paths: Paths, content: str) -> None:
    memory.remember("Her name is Ada.")
    before = paths.long_term.read_bytes()
    assert "othing was" in memory.remember(content)
    assert paths.long_term.read_bytes() == before


def test_a_write_needs_the_hash_of_what_it_replaces(memory: LongTerm, paths: Paths) -> None:
    document = memory.write("one", memory.read().hash)
    assert document == memory.read() and document.hash == sha(b"one")
    paths.long_term.write_text("edited by hand")
    with pytest.raises(StaleDocument) as caught:
        memory.write("two", document.hash)
    assert caught.value.current_hash == sha(b"edited by hand") == caught.value.as_dict()["current_hash"]
    assert caught.value.status == 409 and paths.long_term.read_text() == "edited by hand"


def test_a_full_memory_is_said_to_the_model_and_too_long_a_text_to_the_person(
    memory: LongTerm, paths: Paths
) -> None:
    memory.write("x" * 65_500, memory.read().hash)
    assert "memory is full" in memory.remember("y" * 100)
    with pytest.raises(BadSetting, match="at most 64 KiB"):
        memory.write("x" * 70_000, memory.read().hash)
    assert paths.long_term.read_bytes() == b"x" * 65_500


def test_a_foreign_encoding_is_readable_and_its_bytes_are_never_lost(memory: LongTerm, paths: Paths) -> None:
    foreign = "Café à Zürich\n".encode("latin-1")
    paths.long_term.write_bytes(foreign)
    assert "Caf\ufffd" in memory.read().text and memory.read().hash == sha(foreign)
    memory.remember("New fact.")
    assert paths.long_term.read_bytes().startswith(foreign)
    before = paths.long_term.read_bytes()
    memory.write("clean", memory.read().hash)
    assert (paths.memory / "MEMORY.md.corrupt").read_bytes() == before
    assert memory.read().text == "clean"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_file_from_a_windows_editor_keeps_its_encoding(memory: LongTerm, paths: Paths, codec: str) -> None:
    paths.long_term.write_bytes("Straße\r\n".encode(codec))
    assert memory.read().text == "Straße\r\n"
    memory.remember("Später")
    text = paths.long_term.read_bytes().decode(codec)
    assert text.startswith("Straße\r\n[") and text.endswith("] Später\n")


def test_text_that_is_no_unicode_is_stored_readable(memory: LongTerm) -> None:
    memory.remember("half \ud83d pair")
    assert "half ? pair" in memory.read().text


def test_processes_that_remember_at_the_same_time_lose_nothing(memory: LongTerm, paths: Paths) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from cashcode_jupyter.paths import Paths\n"
        "from cashcode_jupyter.memory.longterm import LongTerm\n"
        "memory = LongTerm(Paths(data=Path(sys.argv[1]), config=Path(sys.argv[1])))\n"
        "for number in range(20): memory.remember(f'fact {sys.argv[2]}-{number}.')\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, paths.data, name]) for name in "abc"]
    assert [child.wait() for child in children] == [0, 0, 0]
    text = memory.read().text
    assert all(f"fact {name}-{number}." in text for name in "abc" for number in range(20))


def test_full_and_read_only_disks_are_said_in_words_and_lose_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        memory = LongTerm(Paths(data=disk, config=tmp_path))
        memory.remember("precious")
        before = memory.read()
        fill(disk)
        with pytest.raises(StorageError, match="disk is full, so the memory"):
            memory.remember("more " * 1000)
        assert memory.read() == before
        make_read_only(disk)
        with pytest.raises(ReadOnly, match="read-only"):
            memory.write("x", before.hash)
        assert memory.read() == before


def test_without_a_file_or_with_a_blank_one_the_built_in_persona_speaks(persona: Persona, paths: Paths) -> None:
    built_in = persona.read()
    assert built_in.builtin and "CashCode" in built_in.text and built_in.hash == sha(built_in.text.encode())
    paths.memory.mkdir(parents=True)
    paths.soul.write_text(" \n")
    assert persona.read() == built_in


def test_a_persona_is_written_and_an_empty_text_returns_to_the_built_in(persona: Persona, paths: Paths) -> None:
    built_in = persona.read()
    mine = persona.write("You are a pirate.", built_in.hash)
    assert mine.text == "You are a pirate." == paths.soul.read_text() and not mine.builtin
    with pytest.raises(StaleDocument) as caught:
        persona.write("x", built_in.hash)
    assert caught.value.current_hash == mine.hash
    assert persona.write("", mine.hash) == built_in and not paths.soul.exists()
