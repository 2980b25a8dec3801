"""Who may write: a lease file for as long as a turn takes, an exclusive lock for an instant.

The one rule: a lease never has two holders. It ends by `release`, when its owner is seen to be dead, or when it
was not renewed in time; time is read from the file system's own stamps, so two clocks never disagree about it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import ReadOnly
from cashcode_jupyter.storage.atomic import make_folder, storage_errors

LOG = logs.log("lease")
GUARD = ".guard"
GUARD_WAIT = 5.0
UNKNOWN_TTL, MAX_TTL = 30.0, 3600.0
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True)
class Owner:
    """Who holds a lease. `space` is where `pid` means something: one boot of one machine, one pid namespace."""

    host: str
    space: str
    pid: int
    start: str
    token: str
    ttl: float

    @classmethod
    def ours(cls, ttl: float) -> Owner:
        """This process as the owner of one new lease."""
        pid = os.getpid()
        host, start = _facts_of(pid)
        return cls(host=host, space=_pid_space(), pid=pid, start=start, token=secrets.token_hex(16), ttl=ttl)

    def content(self) -> bytes:
        return json.dumps(vars(self)).encode()

    @classmethod
    def read(cls, data: bytes) -> Owner | None:
        """None for content that no version of ours wrote."""
        try:
            value = json.loads(data)
            owner = cls(
                host=str(value["host"]),
                space=str(value["space"]),
                pid=int(value["pid"]),
                start=str(value["start"]),
                token=str(value["token"]),
                ttl=float(value["ttl"]),
            )
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            return None
        return owner if 0 < owner.pid < 2**31 and 0 < owner.ttl <= MAX_TTL else None

    def is_dead(self) -> bool:
        """True only when it is certain: same pid space, and the process is gone or another one has its number."""
        if not self.space or self.space != _pid_space():
            return False
        start = _process_start(self.pid)
        return start is None or (start != "" and self.start != "" and start != self.start)


class Lease:
    """The right to write one thing. Its methods block for a moment: call them in a thread."""

    def __init__(self, path: Path, owner: Owner) -> None:
        self.path = path
        self._owner = owner
        self._renewed = _clock()

    @classmethod
    def acquire(cls, path: Path, *, ttl: float = 30.0) -> Lease:
        """Take the lease at `path` for `ttl` seconds from the last renewal; raises `ReadOnly` naming the holder."""
        owner = Owner(
            host=socket.gethostname(),
            space=_pid_space(),
            pid=os.getpid(),
            start=_process_start(os.getpid()) or "",
            token=secrets.token_hex(16),
            ttl=ttl,
        )
        with storage_errors(_("the chat")):
            make_folder(path.parent)
            guard = path.parent / GUARD
            with exclusive(guard), _prepared(path, owner) as fresh:
                if not _put(fresh, path):
                    _end_of_others(path, guard)
                    fresh.replace(path)
        return cls(path, owner)

    @classmethod
    def grab(cls, path: Path, *, ttl: float = 30.0) -> Lease | None:
        """The lease if nobody has it, without waiting for anybody and so fit for the event loop; else None."""
        owner = Owner.ours(ttl)
        try:
            with exclusive(path.parent / GUARD, timeout=0):
                _create(path, owner.content())
        except (OSError, ReadOnly):
            return None
        return cls(path, owner)

    def renew(self) -> None:
        """Hold it for another `ttl` seconds; raises `ReadOnly` when somebody else has it by now."""
        with storage_errors(_("the chat")):
            with exclusive(self.path.parent / GUARD):
                self._check()
                os.utime(self.path)
            self._renewed = _clock()

    def confirm(self) -> None:
        """To be called before each write: free while the lease is fresh, else as `renew`."""
        if _clock() - self._renewed > self._owner.ttl / 2:
            self.renew()

    def release(self) -> None:
        """Give it back; a lease that was lost already is left to its new holder."""
        with storage_errors(_("the chat")), exclusive(self.path.parent / GUARD):
            try:
                self._check()
            except ReadOnly:
                logs.event(LOG, logging.WARNING, "lease.lost", file=self.path.name)
                return
            self.path.unlink(missing_ok=True)

    def _check(self) -> None:
        held = _read(self.path)
        if held is None or (owner := Owner.read(held)) is None or owner.token != self._owner.token:
            raise ReadOnly(
                _(
                    "This chat was taken over by another process because this one did not answer for {ttl:.0f} s."
                ).format(ttl=self._owner.ttl)
            )


@contextmanager
def unclaimed(path: Path) -> Iterator[None]:
    """Inside, nobody holds the lease at `path` and nobody can take it; raises `ReadOnly` while somebody has it.

    Needs no room on the disk, so a full one can be cleared.
    """
    with storage_errors(_("the chat")):
        make_folder(path.parent)
        guard = path.parent / GUARD
        with exclusive(guard):
            _end_of_others(path, guard)
            path.unlink(missing_ok=True)
            yield


@contextmanager
def exclusive(path: Path, *, timeout: float = GUARD_WAIT) -> Iterator[None]:
    """Alone among all threads and processes for an instant; the lock ends with its process, however that ends.

    `path` is an empty file that stays. Blocks; raises `ReadOnly` after `timeout` seconds, `OSError` from the disk.
    """
    deadline = time.monotonic() + timeout
    thread_lock = _thread_lock(str(path))
    if not thread_lock.acquire(timeout=timeout):
        raise _busy()
    try:
        with path.open("ab", buffering=0) as file:
            while not _try_lock(file):
                if time.monotonic() >= deadline:
                    raise _busy()
                time.sleep(0.002)
            # Closing the file unlocks it, also when the process is killed.
            yield
    finally:
        thread_lock.release()


def _create(path: Path, content: bytes) -> None:
    """A new file with the whole content, or none: half a lease would belong to nobody."""
    with path.open("xb", buffering=0) as file:
        try:
            whole = file.write(content) == len(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        if not whole:
            path.unlink(missing_ok=True)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _busy() -> ReadOnly:
    return ReadOnly(_("Another process is busy with the same files. Try again in a moment."))


@contextmanager
def _prepared(path: Path, owner: Owner) -> Iterator[Path]:
    """A file with the owner's content beside `path`, gone afterwards."""
    fresh = path.with_name(f".{path.name}.{owner.token}")
    try:
        fresh.write_bytes(owner.content())
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)


def _put(fresh: Path, path: Path) -> bool:
    """Make `path` with the content of `fresh`, or return False because there is one."""
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if path.exists():
            return False
        fresh.replace(path)
    return True


def _end_of_others(path: Path, guard: Path) -> None:
    """Return when the lease at `path` is over; raises `ReadOnly` while somebody has it.

    The file's stamp is the last renewal, and age is the difference of two stamps of the file system. A stamp from
    the future means that the clock went back: the file is stamped anew, which gives a living owner a whole `ttl`
    and lets a dead one end.
    """
    held = _read(path)
    if held is None:
        return
    owner = Owner.read(held)
    if owner is not None and owner.is_dead():
        logs.event(LOG, logging.INFO, "lease.taken_over", file=path.name, reason="dead", pid=owner.pid)
        return
    os.utime(guard)
    now = guard.stat().st_mtime
    age = now - path.stat().st_mtime
    if age < 0:
        os.utime(path, (now, now))
    elif age > (owner.ttl if owner else UNKNOWN_TTL):
        logs.event(LOG, logging.INFO, "lease.taken_over", file=path.name, reason="expired")
        return
    if owner is None:
        raise ReadOnly(_("Another process is writing this chat. Try again in half a minute."))
    raise ReadOnly(
        _(
            "This chat is being written by process {pid} on {host}. Wait until it is done, or end that process."
        ).format(pid=owner.pid, host=owner.host)
    )


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@cache
def _thread_lock(name: str) -> threading.Lock:
    return threading.Lock()


def _clock() -> float:
    """Seconds that go on while the machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(clock) if clock is not None else time.monotonic()


@cache
def _facts_of(pid: int) -> tuple[str, str]:
    """Host name and start of our own process; `pid` is its number, so a forked child asks anew."""
    return socket.gethostname(), _process_start(pid) or ""


@cache
def _pid_space() -> str:
    """Empty where it is not known; an owner from elsewhere then ends by time only."""
    if os.name == "nt":
        return ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def _process_start(pid: int) -> str | None:
    """When the process began, in the system's own unit ("" = not known); None when there is no such process."""
    if os.name == "nt":
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


if os.name == "nt":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            # Some network file systems know no locks; the link that makes a lease is still exclusive there.
            if error.errno not in NO_LOCKS:
                raise
        return True
