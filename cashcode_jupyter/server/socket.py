"""The WebSocket: a client of the core, one writer task, and rules for peers that are too slow or too loud.

The frames are the core's; nothing here reads them. Every way out ends the writer and detaches the client; a
running turn goes on and can be attached to again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from tornado import websocket

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadFrame, CashCodeError, Forbidden
from cashcode_jupyter.server.access import JupyterAccess
from cashcode_jupyter.server.answers import JsonAnswers

if TYPE_CHECKING:
    from cashcode_jupyter.agent.client import Client

LOG = logs.log("socket")
MEBIBYTE = 1 << 20
PING_SECONDS = 20.0
STALLED_SECONDS = 20.0
GOING_AWAY, TOO_BIG, BROKEN, TRY_AGAIN = 1001, 1009, 1011, 1013


class ChatSocket(JsonAnswers, websocket.WebSocketHandler):
    """One connection. Subclasses put an access mixin in front."""

    max_frame = MEBIBYTE
    stalled_after = STALLED_SECONDS
    _client: Client | None = None
    _writer: asyncio.Task[None] | None = None

    @property
    def max_message_size(self) -> int:
        """Above it tornado cuts the connection at once, so that the peer may never see why.

        Frames between the two limits get a clean 1009.
        """
        return 16 * MEBIBYTE

    @property
    def ping_interval(self) -> float:
        return PING_SECONDS

    @property
    def ping_timeout(self) -> float:
        return PING_SECONDS

    async def get(self, *args: Any, **kwargs: Any) -> None:
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise BadFrame(_("This address speaks WebSocket only."))
        await super().get(*args, **kwargs)

    async def open(self, *args: Any, **kwargs: Any) -> None:
        self.set_nodelay(True)
        try:
            core = await self.door.core()
        except CashCodeError as error:
            await self._refuse(error)
            return
        if self.ws_connection is None:
            return  # the peer left while the core started
        self._client = client = core.connect()
        self._writer = self.door.pump(self._write(client))
        await asyncio.sleep(0)  # a task cancelled before its first step would not detach the client
        logs.event(LOG, logging.INFO, "socket.opened", route=self.route)

    async def on_message(self, message: str | bytes) -> None:
        if self._client is None:
            return
        size = len(message) if isinstance(message, bytes) else len(message.encode())
        if size > self.max_frame:
            self._client = None
            self.close(TOO_BIG, "message too big")
            return
        await self._client.send(message)

    def on_close(self) -> None:
        self._client = None
        if self._writer is not None:
            self._writer.cancel()

    async def _refuse(self, error: CashCodeError) -> None:
        try:
            await self.write_message(json.dumps({"event": "error", **error.as_dict()}))
        except websocket.WebSocketClosedError:
            return
        self.close(BROKEN, error.code)

    async def _write(self, client: Client) -> None:
        from cashcode_jupyter.agent.journal import SlowReader

        sent = 0
        try:
            async with aclosing(cast("AsyncGenerator[bytes]", client.frames())) as frames:
                async for frame in frames:
                    async with asyncio.timeout(self.stalled_after):
                        await self.write_message(frame)
                    sent += 1
        except websocket.WebSocketClosedError:
            pass  # the peer closed; on_close has been or will be called
        except (SlowReader, TimeoutError):
            logs.event(LOG, logging.WARNING, "socket.stalled", route=self.route)
            self.close(TRY_AGAIN, "too slow; attach again")
        except asyncio.CancelledError:
            self.close(GOING_AWAY)
            raise
        except Exception:
            LOG.exception("socket.failed")
            self.close(BROKEN, "internal")
        finally:
            self._client = None
            await client.aclose()
            logs.event(
                LOG,
                logging.INFO,
                "socket.closed",
                route=self.route,
                code=self.close_code,
                frames=sent,
            )


class PanelSocket(JupyterAccess, ChatSocket):  # pyright: ignore[reportIncompatibleMethodOverride]
    """`{base_url}cashcode/ws`: a login of the Jupyter server that may execute."""

    auth_resource = "cashcode"

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        allowed = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "execute", self.auth_resource)
        )
        if not allowed:
            raise Forbidden(_("Your account may not run CashCode on this server."))
        await super().get(*args, **kwargs)
