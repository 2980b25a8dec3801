from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cashcode_jupyter.llm import starter_files
from cashcode_jupyter.protocol.errors import BadSetting, StorageError

from .gguf_files import write


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


def test_without_a_record_there_is_no_model(models: Path) -> None:
    assert starter_files.registered(models) is None


def test_a_registered_file_is_known_by_its_file_name(models: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "mine" / "Qwen3-0.6B.Q8_0.GGUF")
    starter_files.register(models, path)
    found = starter_files.registered(models)
    assert found is not None
    assert (found.path, found.model, found.source) == (path, "Qwen3-0.6B.Q8_0", "file")
    assert (found.context_length, found.size) == (1024, path.stat().st_size)
    assert not found.tiny


def test_a_relative_path_is_recorded_so_that_it_means_the_same_elsewhere(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "m.gguf")
    monkeypatch.chdir(tmp_path)
    starter_files.register(models, Path("m.gguf"))
    monkeypatch.chdir("/")
    found = starter_files.registered(models)
    assert found is not None and found.path == tmp_path / "m.gguf"


def test_a_file_in_the_models_folder_moves_with_the_data_dir(models: Path, tmp_path: Path) -> None:
    starter_files.register(models, write(models / "m.gguf"))
    shutil.move(models.parent, tmp_path / "moved")
    found = starter_files.registered(tmp_path / "moved" / "models")
    assert found is not None and found.path == tmp_path / "moved" / "models" / "m.gguf"


def test_a_second_registration_replaces_the_first(models: Path, tmp_path: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        starter_files.register(models, write(tmp_path / name))
    found = starter_files.registered(models)
    assert found is not None and found.model == "b"


@pytest.mark.parametrize("change", ["gone", "longer", "folder"])
def test_a_model_that_is_gone_or_has_another_size_does_not_count(models: Path, tmp_path: Path, change: str) -> None:
    path = write(tmp_path / "m.gguf")
    starter_files.register(models, path)
    if change == "longer":
        path.write_bytes(path.read_bytes() + b"x")
    else:
        path.unlink()
    if change == "folder":
        path.mkdir()
    assert starter_files.registered(models) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"file": ""}', "\0", '{"file": "m.gguf", "model": 3}'])
def test_a_broken_record_counts_as_none(models: Path, text: str) -> None:
    models.mkdir(parents=True)
    (models / starter_files.RECORD).write_text(text)
    assert starter_files.registered(models) is None


def test_the_record_is_a_file_that_a_person_can_read(models: Path, tmp_path: Path) -> None:
    starter_files.register(
        models, write(tmp_path / "m.gguf"), source="pypi:x==1", license="Apache-2.0", sha256="ab"
    )
    record = json.loads((models / starter_files.RECORD).read_text())
    assert (record["license"], record["source"], record["sha256"]) == ("Apache-2.0", "pypi:x==1", "ab")


def test_what_cannot_be_registered_is_named_with_the_reason(models: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "loop.gguf").symlink_to("loop.gguf")
    write(tmp_path / "text.gguf", b"no model")
    for name, said in [
        ("none.gguf", "There is no file none.gguf"),
        ("folder.gguf", "is a folder"),
        ("pipe.gguf", "is not a regular file"),
        ("loop.gguf", "cannot be read"),
        ("text.gguf", "is not a GGUF file"),
    ]:
        with pytest.raises(BadSetting, match=said):
            starter_files.register(models, tmp_path / name)
    assert starter_files.registered(models) is None


def test_a_models_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(StorageError):
        starter_files.register(tmp_path / "data" / "models", write(tmp_path / "m.gguf"))
