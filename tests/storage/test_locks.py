from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cashcode_jupyter.protocol.errors import ReadOnly
from cashcode_jupyter.storage.locks import Lease, exclusive, unclaimed

HOLD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from cashcode_jupyter.storage.locks import Lease\n"
    "Lease.acquire(Path(sys.argv[1]), ttl=float(sys.argv[2]))\n"
    "print('held', flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
def elsewhere():
    """Starts a process that takes a lease and keeps it."""
    children = []

    def hold(path: Path, ttl: float = 30.0) -> subprocess.Popen:
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, path, str(ttl)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        children.append(child)
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        return child

    yield hold
    for child in children:
        child.kill()
        child.communicate()


@pytest.fixture
def lease_file(tmp_path: Path) -> Path:
    return tmp_path / "leases" / "chat.json"


def make_old(path: Path, seconds: float) -> None:
    stamp = path.stat().st_mtime - seconds
    os.utime(path, (stamp, stamp))


def test_a_lease_is_for_one_at_a_time(lease_file: Path) -> None:
    lease = Lease.acquire(lease_file)
    with pytest.raises(ReadOnly):
        Lease.acquire(lease_file)
    lease.release()
    Lease.acquire(lease_file).release()
    assert not lease_file.exists()


def test_the_holder_is_named(lease_file: Path, elsewhere) -> None:
    child = elsewhere(lease_file)
    with pytest.raises(ReadOnly, match=f"process {child.pid} on "):
        Lease.acquire(lease_file)
    assert json.loads(lease_file.read_text())["pid"] == child.pid


def test_the_lease_of_a_killed_process_is_taken_at_once(lease_file: Path, elsewhere) -> None:
    child = elsewhere(lease_file)
    child.send_signal(signal.SIGKILL)
    child.wait()
    Lease.acquire(lease_file).release()


def test_the_lease_of_a_process_whose_number_was_given_to_another_is_taken(lease_file: Path) -> None:
    Lease.acquire(lease_file)
    value = json.loads(lease_file.read_text())
    lease_file.write_text(json.dumps(value | {"start": "12345"}))
    Lease.acquire(lease_file).release()


def test_an_expired_lease_is_taken_and_its_holder_is_told(lease_file: Path) -> None:
    slow = Lease.acquire(lease_file)
    make_old(lease_file, 31)
    Lease.acquire(lease_file)
    with pytest.raises(ReadOnly, match="taken over"):
        slow.renew()
    slow.release()
    assert lease_file.exists(), "what is somebody else's now is not released"


def test_a_renewed_lease_is_fresh_again(lease_file: Path) -> None:
    lease = Lease.acquire(lease_file)
    make_old(lease_file, 29)
    lease.renew()
    make_old(lease_file, 29)
    with pytest.raises(ReadOnly):
        Lease.acquire(lease_file)


def test_a_holder_that_slept_too_long_finds_out_before_it_writes(lease_file: Path) -> None:
    lease = Lease.acquire(lease_file, ttl=1e-6)
    make_old(lease_file, 1)
    Lease.acquire(lease_file)
    with pytest.raises(ReadOnly):
        lease.confirm()


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 10, b"not json", b'{"pid": 1}', b"\xff\xfe", b'{"pid": -1}' * 100]
)
def test_a_lease_nobody_can_read_ends_by_its_age(lease_file: Path, content: bytes) -> None:
    lease_file.parent.mkdir()
    lease_file.write_bytes(content)
    with pytest.raises(ReadOnly, match="half a minute"):
        Lease.acquire(lease_file)
    make_old(lease_file, 31)
    Lease.acquire(lease_file).release()


def test_a_lease_from_another_machine_ends_by_its_age_only(lease_file: Path) -> None:
    Lease.acquire(lease_file)
    value = json.loads(lease_file.read_text())
    lease_file.write_text(json.dumps(value | {"host": "other", "space": "other boot", "pid": 1}))
    with pytest.raises(ReadOnly, match="on other"):
        Lease.acquire(lease_file)
    make_old(lease_file, 31)
    Lease.acquire(lease_file).release()


def test_a_clock_that_went_back_makes_no_lease_eternal(lease_file: Path) -> None:
    Lease.acquire(lease_file)
    value = json.loads(lease_file.read_text())
    lease_file.write_text(json.dumps(value | {"space": "other boot"}))
    make_old(lease_file, -86_400)
    with pytest.raises(ReadOnly):
        Lease.acquire(lease_file)
    assert lease_file.stat().st_mtime < time.time() + 5
    make_old(lease_file, 31)
    Lease.acquire(lease_file).release()


def test_what_nobody_holds_cannot_be_taken_inside(lease_file: Path, elsewhere) -> None:
    with unclaimed(lease_file):
        assert not lease_file.exists()
    child = elsewhere(lease_file)
    with pytest.raises(ReadOnly, match=f"{child.pid}"), unclaimed(lease_file):
        pytest.fail("somebody holds it")
    child.kill()
    child.wait()
    with unclaimed(lease_file):
        assert not lease_file.exists()


def _compete(folder: str, rounds: int, results) -> None:
    lease_file, inside = Path(folder) / "leases" / "x.json", Path(folder) / "inside"
    taken = 0
    while taken < rounds:
        try:
            lease = Lease.acquire(lease_file)
        except ReadOnly:
            continue
        # Only one process may be between these two lines: an exclusive create would fail for a second.
        inside.touch(exist_ok=False)
        inside.unlink()
        taken += 1
        if taken % 5 == 0:
            # Some leases are left behind looking dead or expired, so that many take over at the same moment.
            value = json.loads(lease_file.read_text())
            lease_file.write_text(json.dumps(value | {"start": "1"}))
        else:
            lease.release()
    results.put(taken)


def test_eight_processes_never_hold_one_lease_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    rounds = 40
    children = [context.Process(target=_compete, args=(str(tmp_path), rounds, results)) for _child in range(8)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 8
    assert sum(results.get() for _child in children) == 8 * rounds


def test_an_exclusive_lock_is_busy_for_other_threads_and_free_afterwards(tmp_path: Path) -> None:
    with exclusive(tmp_path / "guard"):
        failures = []

        def attempt() -> None:
            try:
                with exclusive(tmp_path / "guard", timeout=0.01):
                    failures.append("was let in")
            except ReadOnly as error:
                failures.append(error.detail)

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        assert "busy" in failures[0]
    with exclusive(tmp_path / "guard", timeout=0.01):
        pass


def test_a_free_lease_is_grabbed_at_once_and_a_held_one_is_not(tmp_path: Path):
    path = tmp_path / "chat.json"
    held = Lease.grab(path)
    assert held is not None
    assert Lease.grab(path) is None
    held.release()
    again = Lease.grab(path)
    assert again is not None
    again.release()
