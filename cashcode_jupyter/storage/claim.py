"""A server's claim on its data directory, so that two servers on one directory are told, not surprised.

Two may share it: chats are leased turn by turn. But what one shows live, the other sees only after the turn.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from cashcode_jupyter.protocol.errors import CashCodeError, ReadOnly
from cashcode_jupyter.storage.locks import Lease

RENEW_EVERY = 10.0


class Claim:
    """Held from `take` to `aclose`. `others` says that somebody else has it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._renewal: asyncio.Task[None] | None = None
        self._lease: Lease | None = None
        self.others = False

    async def take(self) -> None:
        """Claim the directory, or learn that it is claimed; raises `StorageError`."""
        try:
            self._lease = await asyncio.to_thread(Lease.acquire, self._path)
        except ReadOnly:
            self.others = True
            return
        self._renewal = asyncio.create_task(self._renew(self._lease), name="cashcode: claim")

    async def _renew(self, lease: Lease) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY)
            try:
                await asyncio.to_thread(lease.renew)
            except CashCodeError:
                self.others = True
                return

    async def aclose(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait([self._renewal])
        if self._lease is not None and not self.others:
            await asyncio.to_thread(self._lease.release)
