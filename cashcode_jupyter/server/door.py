"""What all handlers of one server share: the core, built by the first request that needs it, and the open sockets.

Whoever waits for the core waits for the same start; a start that failed is tried again by the next request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError, InternalError

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode


# Shown in the log of the Jupyter server, which is English like the rest of it.
SHARED = (
    "CashCode: another Jupyter server uses the same data directory. Both can chat, but a chat is written by one "
    "at a time, and what one streams the other sees after the turn. Set CASHCODE_DATA_DIR to keep them apart."
)


class Door:
    """`load` gives the settings (or raises `BadSetting`), `root` the workspace when they name none."""

    def __init__(self, load: Callable[[], Settings], root: Callable[[], Path], log: logging.Logger) -> None:
        self._load = load
        self._root = root
        self._log = log
        self._core: asyncio.Task[CashCode] | None = None
        self._pumps: set[asyncio.Task[None]] = set()
        self._closed = False
        self.compat: dict[str, str] | None = None

    @property
    def facts(self) -> dict[str, object]:
        """What `health` tells of this server besides the core's own state."""
        return {} if self.compat is None else {"compat": self.compat}

    async def core(self) -> CashCode:
        """The running core; `CashCodeError` with words when it cannot start."""
        if self._closed:
            raise InternalError(_("The Jupyter server is shutting down."))
        if self._core is None or _failed(self._core):
            self._core = asyncio.create_task(self._start(), name="cashcode: start")
        return await asyncio.shield(self._core)

    async def _start(self) -> CashCode:
        try:
            app = await asyncio.to_thread(import_module, "cashcode_jupyter.app")
            settings = self._load()
            root = settings.workspace or self._root()
            core: CashCode = app.CashCode(settings, workspace=root, resident=True)
            await core.start()
            if core.shares_data_dir:
                self._log.warning(SHARED)
        except CashCodeError as error:
            self._log.error("CashCode: %s", error.detail)
            raise
        except Exception as error:
            self._log.error("CashCode could not start", exc_info=True)
            raise InternalError(
                _("CashCode could not start. The log of the Jupyter server has the details.")
            ) from error
        return core

    def pump(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a socket's writer; it ends by itself, with its socket, or with the door."""
        task = asyncio.create_task(work, name="cashcode: socket")
        self._pumps.add(task)
        task.add_done_callback(self._pumps.discard)
        return task

    async def aclose(self) -> None:
        """End the sockets, then the core. Nothing starts afterwards."""
        self._closed = True
        pumps = tuple(self._pumps)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        if self._core is not None:
            [core] = await asyncio.gather(self._core, return_exceptions=True)
            if not isinstance(core, BaseException):
                await core.stop()


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
