"""Finds a file or folder beneath some root folders without ever being led out of them.

Two ways to the same `Place`: `by_descriptor` holds every folder on the way open, so nothing that is swapped on
disk meanwhile matters; `by_real_path`, where the system has no `openat`, looks again after it has opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

Kind = Literal["file", "folder", "link", "other"]
MAX_LINKS = 40
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_COMMON = getattr(os, "O_CLOEXEC", 0) | _NO_LINK
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _COMMON
_LIST = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
# Non-blocking, so that a FIFO that was swapped in cannot hold us.
_READ = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0) | _COMMON
)
HAS_OPENAT = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and os.scandir in os.supports_fd


class NotBeneath(Exception):
    """The way leads out of the roots."""


@dataclass(frozen=True)
class Place:
    """What a path led to: its root, the real names from there, and its kind, None when it does not exist.

    `open` gives a descriptor of the file, or of the folder to list. It is only valid while the place is held.
    """

    root: str
    names: tuple[str, ...]
    kind: Kind | None
    open: Callable[[], int]


def split_names(path: str) -> list[str]:
    if os.altsep:
        path = path.replace(os.altsep, os.sep)
    return path.split(os.sep)  # noqa: PTH206 -- Path would drop the dots that must be seen


def split_root(path: str, roots: Mapping[str, str]) -> tuple[str, list[str]]:
    """The real root that an absolute path begins with, and the names after it; raises `NotBeneath`."""
    for spelling in sorted(roots, key=len, reverse=True):
        if path == spelling or path.startswith(spelling.rstrip(os.sep) + os.sep):
            return roots[spelling], split_names(path[len(spelling) :])
    raise NotBeneath


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


@contextmanager
def by_descriptor(root: str, names: list[str], roots: Mapping[str, str]) -> Iterator[Place]:
    """Walk with `openat`; raises `NotBeneath` and the `OSError` of whatever stands in the way."""
    descent = _Descent(root)
    try:
        yield descent.follow(names, roots)
    finally:
        descent.close()


class _Descent:
    """The open folders from a root down to where the walk is."""

    def __init__(self, root: str) -> None:
        self._folders: list[tuple[str, int]] = []
        self._enter_root(root)

    def _enter_root(self, root: str) -> None:
        self.close()
        self._root = root
        self._folders = [("", os.open(root, _PASS))]

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop()[1])

    def follow(self, names: list[str], roots: Mapping[str, str]) -> Place:
        pending = list(reversed(names))
        links = 0
        while pending:
            name = pending.pop()
            folder = self._folders[-1][1]
            if name in ("", "."):
                continue
            if name == "..":
                if len(self._folders) == 1:
                    raise NotBeneath
                os.close(self._folders.pop()[1])
                continue
            try:
                kind = kind_of(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                return self._missing([name, *reversed(pending)])
            if kind == "folder":
                self._folders.append((name, os.open(name, _PASS, dir_fd=folder)))
            elif kind == "link":
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                target = os.readlink(name, dir_fd=folder)
                if Path(target).is_absolute():
                    root, rest = split_root(target, roots)
                    self._enter_root(root)
                    pending += reversed(rest)
                else:
                    pending += reversed(split_names(target))
            elif any(pending):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            else:
                return Place(self._root, (*self._names(), name), kind, partial(os.open, name, _READ, dir_fd=folder))
        folder = self._folders[-1][1]
        return Place(self._root, self._names(), "folder", partial(os.open, ".", _LIST, dir_fd=folder))

    def _names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._folders[1:])

    def _missing(self, rest: list[str]) -> Place:
        rest = [name for name in rest if name not in ("", ".")]
        if ".." in rest:
            raise NotBeneath
        return Place(self._root, (*self._names(), *rest), None, _nothing)


@contextmanager
def by_real_path(root: str, names: list[str], roots: Mapping[str, str]) -> Iterator[Place]:
    """Resolve, open, and refuse if what was opened is not what the resolved path names now."""
    real = os.path.realpath(Path(root, *names))
    real_root, rest = split_root(real, roots)
    try:
        kind: Kind | None = kind_of(os.lstat(real).st_mode)
    except FileNotFoundError:
        kind = None

    def open_checked() -> int:
        descriptor = os.open(real, _LIST if kind == "folder" else _READ)
        if os.path.realpath(real) != real or not os.path.samestat(os.fstat(descriptor), os.lstat(real)):
            os.close(descriptor)
            raise NotBeneath
        return descriptor

    yield Place(real_root, tuple(filter(None, rest)), kind, open_checked if kind else _nothing)


def _nothing() -> int:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def scan(descriptor: int, path: Path) -> list[tuple[str, Kind, int]]:
    """`(name, kind, size)` of what is in a folder, by name; `path` is for systems that cannot list a descriptor."""
    found = []
    with os.scandir(descriptor if os.scandir in os.supports_fd else path) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            kind = kind_of(status.st_mode)
            found.append((entry.name, kind, status.st_size if kind == "file" else 0))
    return sorted(found)
