"""What the server saw: one record a completion request, and waiting for something to happen without polling."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_RECORDS = 200_000
KEPT_BODIES = 64 * 1024 * 1024


@dataclass
class Record:
    """One completion request. Times are nanoseconds of the machine's monotonic clock, 0 when it did not happen."""

    request_id: str
    number: int
    connection: int
    path: str
    headers: dict[str, str]
    recv_ns: int
    req_bytes: int
    raw: bytes | None
    model: str = ""
    script: str = ""
    stream: bool = False
    round: int = 0
    status: int = 0
    events: int = 0
    first_ns: int = 0
    last_ns: int = 0
    slept_ns: int = 0
    finished: bool = False
    aborted: bool = False  # the client left before the answer was whole
    refused: str | None = None  # what the strict validator or the directive parser objected to
    previous: bytes | None = field(default=None, repr=False)  # the body of the same model's request before
    _prefix: int | None = None

    @property
    def body(self) -> Any:
        """The request's JSON, decoded now. Raises LookupError when it was given up to bound memory."""
        if self.raw is None:
            raise LookupError(f"the body of {self.request_id} was given up: only the last 64 MB are kept")
        return json.loads(self.raw)

    @property
    def authorized(self) -> bool:
        return "authorization" in self.headers

    @property
    def prefix_bytes(self) -> int:
        """Bytes of tools and messages shared with the same model's request before: what a prompt cache can keep.

        0 also when one of the two bodies was given up.
        """
        if self._prefix is None:
            known = self.previous is not None and self.raw is not None
            self._prefix = _shared(_prompt(self.previous), _prompt(self.raw)) if known else 0
        return self._prefix

    def summary(self) -> dict[str, Any]:
        """The record as `GET /mock/log` gives it: header names, never their values."""
        named = (
            "request_id number connection path recv_ns req_bytes model script stream round status events "
            "first_ns last_ns slept_ns finished aborted refused prefix_bytes authorized"
        )
        return {name: getattr(self, name) for name in named.split()} | {"headers": sorted(self.headers)}


def _prompt(raw: bytes | None) -> bytes:
    try:
        body = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return b""
    return json.dumps([body.get("tools"), body.get("messages")]).encode() if isinstance(body, dict) else b""


def _shared(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class RequestLog:
    """The records of one server. Written by the server's thread, read by any."""

    def __init__(self) -> None:
        self.requests: list[Record] = []
        self.visits: list[str] = []
        self.connections = 0
        self.open_connections = 0
        self._numbered = 0
        # A chat may outlive a server: the ids that a second one gives must not repeat the first one's.
        self._token = secrets.token_hex(3)
        self._last: dict[str, bytes] = {}
        self._bodies: deque[Record] = deque()
        self._kept = 0
        self._changed = threading.Condition()
        self._waiting = 0
        self._watchers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def changed(self) -> None:
        """Wakes who waits. Called after each change of what a waiter may look at.

        A waiter counts itself before it looks, so whoever is not counted yet will see the change by itself.
        """
        if not self._waiting:
            return
        with self._changed:
            self._changed.notify_all()
            for loop, event in self._watchers:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    def add(self, connection: int, path: str, headers: dict[str, str], raw: bytes) -> Record:
        self._numbered += 1
        name = f"req-{self._token}-{self._numbered}"
        record = Record(name, self._numbered, connection, path, headers, time.monotonic_ns(), len(raw), raw)
        if len(self.requests) < MOST_RECORDS:
            self.requests.append(record)
        self._bodies.append(record)
        self._kept += len(raw)
        while self._kept > KEPT_BODIES and len(self._bodies) > 1:
            self._give_up(self._bodies.popleft())
        self.changed()
        return record

    def about(self, record: Record, model: str) -> None:
        record.model = model
        record.previous = self._last.get(model)
        if len(self._last) < 1000 and record.raw is not None:
            self._last[model] = record.raw

    def _give_up(self, record: Record) -> None:
        self._kept -= record.req_bytes
        record.raw = record.previous = None

    def clear(self) -> None:
        """Empties the log. Called in the server's thread, or by a test while nothing is asked."""
        self.requests.clear()
        self.visits.clear()
        self._bodies.clear()
        self._kept = 0
        self.changed()

    @property
    def aborted(self) -> int:
        return sum(record.aborted for record in self.requests)

    def wait_for(self, holds: Callable[[], bool], timeout: float) -> bool:
        with self._changed:
            self._waiting += 1
            try:
                return self._changed.wait_for(holds, timeout)
            finally:
                self._waiting -= 1

    async def until(self, holds: Callable[[], bool], timeout: float) -> bool:
        watcher = asyncio.get_running_loop(), asyncio.Event()
        with self._changed:
            self._waiting += 1
            self._watchers.add(watcher)
        try:
            async with asyncio.timeout(timeout):
                while not holds():
                    await watcher[1].wait()
                    watcher[1].clear()
            return True
        except TimeoutError:
            return holds()
        finally:
            with self._changed:
                self._waiting -= 1
                self._watchers.discard(watcher)
