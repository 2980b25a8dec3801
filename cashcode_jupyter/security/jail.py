"""Keeps file access inside a folder: the workspace, or a chat's spill folder.

Rule: a path is never checked first and opened later, it is walked from the root by `beneath`, which no link can
lead out; links that stay inside are fine. Only regular files are opened, and never in a way that blocks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cashcode_jupyter.protocol.errors import Forbidden, NotFound
from cashcode_jupyter.security.beneath import (
    HAS_OPENAT,
    Kind,
    NotBeneath,
    Place,
    by_descriptor,
    by_real_path,
    scan,
    split_names,
    split_root,
)

MAX_PATH = 4096
MAX_NAMES = 256
MAX_SHOWN = 200


class OutsideWorkspace(Forbidden):
    """The path leads out of the workspace, or to a device, pipe or socket."""


class NoSuchPath(NotFound):
    """Nothing is there, it is not what was expected, or it cannot be read."""


@dataclass(frozen=True)
class Entry:
    """Something in a folder. `path` is relative to the workspace with `/`; `size` is in bytes, of files only."""

    path: str
    kind: Kind
    size: int = 0

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Jail:
    """Read access beneath `root`, and beneath the `extra` folders for those who name them by absolute paths.

    Everything blocks on the disk, and raises `OutsideWorkspace` or `NoSuchPath` with a sentence that repeats the
    path as it was given and no other.
    """

    def __init__(self, root: Path, extra: Sequence[Path] = (), *, openat: bool = HAS_OPENAT) -> None:
        self.root = Path(os.path.realpath(root))
        self._locate = by_descriptor if openat else by_real_path
        self._roots: dict[str, str] = {}
        for folder in (root, *extra):
            real = os.path.realpath(folder)
            self._roots |= {real: real, str(folder.absolute()): real}

    def resolve(self, path: str, *, must_exist: bool = True) -> Path:
        """The real path of `path`, to hand on; what is on disk may change after this check.

        Without `must_exist`, the last names may be missing.
        """
        with self._place(path, must_exist=must_exist) as place:
            return Path(place.root, *place.names)

    def kind(self, path: str) -> Kind:
        """What stands at `path`; links are followed."""
        with self._place(path) as place:
            return place.kind or "other"

    def open(self, path: str) -> BinaryIO:
        """A regular file, for reading bytes."""
        with self._place(path) as place:
            if place.kind == "folder":
                raise NoSuchPath(f"{_shown(path)} is a folder, not a file.")
            if place.kind == "file":
                descriptor = place.open()
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return os.fdopen(descriptor, "rb")
                os.close(descriptor)
            raise OutsideWorkspace(f"{_shown(path)} is no regular file but a device, pipe or socket.")

    def entries(self, path: str = "") -> list[Entry]:
        """What is in a folder, by name; links are not followed."""
        with self._place(path) as place:
            if place.kind != "folder":
                raise NoSuchPath(f"{_shown(path)} is not a folder.")
            descriptor = place.open()
            try:
                found = scan(descriptor, Path(place.root, *place.names))
            finally:
                os.close(descriptor)
            prefix = "" if place.root == str(self.root) else f"{place.root}/"
            prefix += "".join(f"{name}/" for name in place.names)
        return [Entry(prefix + name, kind, size) for name, kind, size in found]

    def walk(self, path: str = "", skip: Collection[str] = ()) -> Iterator[Entry]:
        """All that is below a folder, depth first by name. Links are named but not entered, and neither are
        folders named in `skip`; a folder that vanishes or cannot be read on the way counts as empty."""
        pending = [iter(self.entries(path))]
        while pending:
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
                continue
            yield entry
            if entry.kind == "folder" and entry.name not in skip:
                try:
                    pending.append(iter(self.entries(entry.path)))
                except (NoSuchPath, OutsideWorkspace):
                    continue

    @contextmanager
    def _place(self, path: str, *, must_exist: bool = True) -> Iterator[Place]:
        try:
            root, names = self._split(path)
            with self._locate(root, names, self._roots) as place:
                if must_exist and place.kind is None:
                    raise NoSuchPath(f"There is no {_shown(path)} in the workspace.")
                yield place
        except NotBeneath:
            raise OutsideWorkspace(
                f"{_shown(path)} is outside the workspace. Paths are relative to it, e.g. 'data/table.csv'."
            ) from None
        except OSError as error:
            raise NoSuchPath(f"{_shown(path)} cannot be read: {_reason(error)}.") from None

    def _split(self, path: str) -> tuple[str, list[str]]:
        try:
            size = len(os.fsencode(path))
        except UnicodeEncodeError:
            raise NoSuchPath("The path has characters that no file name can have.") from None
        if "\0" in path or (os.name == "nt" and ":" in os.path.splitdrive(path)[1]):
            raise NoSuchPath("The path has characters that no file name can have.")
        if size > MAX_PATH:
            raise NoSuchPath(f"The path is longer than {MAX_PATH:,} bytes.")
        if Path(path).is_absolute() or os.path.splitdrive(path)[0]:
            root, names = split_root(path, self._roots)
        else:
            root, names = str(self.root), split_names(path)
        if len(names) > MAX_NAMES:
            raise NoSuchPath(f"The path has more than {MAX_NAMES} parts.")
        return root, names


def _shown(path: str) -> str:
    return repr(path if len(path) <= MAX_SHOWN else path[:MAX_SHOWN] + "…")


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "it is gone"
    return error.strerror or type(error).__name__
