"""Real disks that are full or read-only: small tmpfs mounts where the system lets us, else the test is skipped."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str = "64k") -> Iterator[Path]:
    """A disk of `size` mounted at `folder`."""
    folder.mkdir(parents=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if made.returncode:
        pytest.skip("mounting a tmpfs needs more rights than this process has")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


def fill(folder: Path) -> Path:
    """Write until the disk is full; deleting the returned file gives the room back."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for block in (4096, 1):
                while file.write(b"x" * block) == block:
                    pass
    except OSError:
        pass
    return filler
