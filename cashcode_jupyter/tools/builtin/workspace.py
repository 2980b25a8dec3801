"""What file tools need of the place they work in; `security.jail.Jail` is one, the app hands it in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".ipynb_checkpoints",
        ".venv",
        ".mypy_cache",
        ".ruff_cache",
    }
)


class Entry(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Literal["file", "folder", "link", "other"]: ...
    @property
    def size(self) -> int: ...


class Workspace(Protocol):
    """Read access beneath a folder. Every method blocks and raises a `CashCodeError` with a sentence."""

    def kind(self, path: str) -> Literal["file", "folder", "link", "other"]: ...
    def open(self, path: str) -> BinaryIO: ...
    def entries(self, path: str = "") -> Sequence[Entry]: ...
    def walk(self, path: str = "", skip: Collection[str] = ()) -> Iterator[Entry]: ...


OpenWorkspace = Callable[[Path], Workspace]


def size_text(size: int) -> str:
    """A size in bytes for reading, e.g. `1.2 MB`."""
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
