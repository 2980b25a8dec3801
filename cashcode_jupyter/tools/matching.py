"""A regular expression of the model's, run in a child process.

Rule: Python's `re` cannot be interrupted and holds the GIL, so a pattern that never ends would stop the server.
In a child it can be killed: by the time budget of each piece of text, and when the call is cancelled.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO

CHILD = Path(__file__).with_name("match_child.py")
BUDGET = 2.0
STARTUP = 20.0
MAX_PATTERN = 1000


class BadPattern(Exception):
    """The pattern does not compile; the text says where."""


class PatternTooSlow(Exception):
    """The pattern did not finish with one piece of text within its budget."""


class Matcher:
    """Use as a context manager from one thread; `kill` may be called from any. Blocks on the child.

    `most` is the number of matching lines wanted from each text, `budget` the seconds that one text may take.
    """

    def __init__(self, pattern: str, *, most: int, budget: float = BUDGET) -> None:
        self._pattern = pattern
        self._most = most
        self._budget = budget
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = threading.Event()

    def __enter__(self) -> Matcher:
        if len(self._pattern) > MAX_PATTERN:
            raise BadPattern(f"it is longer than {MAX_PATTERN:,} characters")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        try:
            start = json.dumps([self._most, self._pattern]).encode()
            if problem := self._ask(start, STARTUP):
                raise BadPattern(problem.decode("utf-8", "replace"))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def lines(self, data: bytes) -> tuple[list[tuple[int, str]], int]:
        """`(line index, line)` of the matching lines in UTF-8 `data`, and how many line ends it has."""
        found, ends = json.loads(self._ask(data, self._budget))
        return [(index, line) for index, line in found], ends

    def kill(self) -> None:
        """End the child now; a pending or later `lines` raises `PatternTooSlow`."""
        self._killed.set()
        if self._process is not None:
            self._process.kill()

    def _ask(self, data: bytes, seconds: float) -> bytes:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        watchdog = threading.Timer(seconds, self.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            if self._killed.is_set():
                raise PatternTooSlow
            process.stdin.write(struct.pack(">I", len(data)))
            process.stdin.write(data)
            process.stdin.flush()
            head = _exactly(process.stdout, 4)
            return _exactly(process.stdout, struct.unpack(">I", head)[0])
        except (BrokenPipeError, EOFError, OSError):
            raise PatternTooSlow from None
        finally:
            watchdog.cancel()

    def _end(self) -> None:
        process = self._process
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close(pipe)
            process.wait()


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        # The child is gone, and with it whoever could have read what was still buffered.
        return


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError
    return data
