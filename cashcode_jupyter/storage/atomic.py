"""Atomic replace of a whole file, and disk errors as sentences.

The one rule: a reader sees the old file or the new one, never half of either, whatever is killed and when.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import ReadOnly, StorageError

FULL = {errno.ENOSPC, errno.EDQUOT}
FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}
NO_DIRECTORY_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}


def replace(path: Path, data: bytes, *, private: bool = False) -> None:
    """Put `data` in the place of `path`, durable when it returns; missing folders are made.

    `private`: the file is 0600 and folders made for it are 0700. Otherwise a file that is replaced keeps its
    mode. A symbolic link stays one, its target is replaced. Raises `OSError`, the old file is untouched then;
    callers put it into words with `storage_errors`.
    """
    path = Path(os.path.realpath(path))
    make_folder(path.parent, private=private)
    fresh = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    fd = os.open(
        fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if private else 0o666
    )
    try:
        with os.fdopen(fd, "wb") as file:
            if not private and (mode := _mode(path)) is not None:
                fresh.chmod(mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(folder: Path, *, private: bool = False) -> None:
    """`mkdir -p`; with `private` every folder that is made here is 0700, not only the last."""
    mode = 0o700 if private else 0o777
    try:
        folder.mkdir(mode=mode)  # mostly only the last one is missing
        return
    except FileExistsError:
        if folder.is_dir():
            return
        raise
    except FileNotFoundError:
        pass
    missing = []
    while not folder.is_dir() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(mode=mode, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make names in `folder` (new, renamed, removed) survive a power loss, where the system can."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        # Some file systems cannot sync a folder; the files themselves are durable already.
        if error.errno not in NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(fd)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """`OSError` inside becomes `StorageError` or `ReadOnly` with a sentence about `what` ("the chat"), no path."""
    try:
        yield
    except OSError as error:
        raise in_words(error, what) from error


def in_words(error: OSError, what: str) -> StorageError | ReadOnly:
    if error.errno in FULL:
        return StorageError(
            _("The disk is full, so {what} could not be saved. Free some space and try again.").format(what=what)
        )
    if error.errno in FORBIDDEN:
        return ReadOnly(
            _(
                "Cannot use {what}: the folder is read-only or belongs to someone else. Check its permissions, "
                "or set CASHCODE_DATA_DIR and CASHCODE_CONFIG_DIR to folders of yours."
            ).format(what=what)
        )
    reason = error.strerror or type(error).__name__
    return StorageError(
        _("The disk refused {what}: {reason}. Check the disk with `cashcode doctor`, then try again.").format(
            what=what, reason=reason
        )
    )
