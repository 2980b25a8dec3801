from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class ReadBytes:
    count = 0


@pytest.fixture
def bytes_read():
    """Counts the bytes that this process asks the system for, also those that come from the cache."""
    counter = Path("/proc/self/io")
    if not counter.exists():
        pytest.skip("this system does not count what a process reads")

    def now() -> int:
        return int(counter.read_text().split("rchar:")[1].split()[0])

    @contextmanager
    def counted() -> Iterator[ReadBytes]:
        read = ReadBytes()
        start = now()
        yield read
        read.count = now() - start

    return counted
