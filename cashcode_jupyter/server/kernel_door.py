"""The way in for this server's own kernels: a secret of this process, published to its children by environment.

It works without a token or password of the user. The secret opens the kernel socket only, only from this
machine, and never from a page; it is never logged. Besides the chats' frames that socket answers the requests of
panels that a kernel shows.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado.websocket import WebSocketClosedError

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import Forbidden
from cashcode_jupyter.server.access import JupyterAccess, from_this_machine, origin_of
from cashcode_jupyter.server.answers import encode
from cashcode_jupyter.server.kernel_requests import KernelRequests
from cashcode_jupyter.server.socket import MEBIBYTE, ChatSocket

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

PID, URL, TOKEN = "CASHCODE_SERVER_PID", "CASHCODE_SERVER_URL", "CASHCODE_KERNEL_TOKEN"
HEADER = "X-CashCode-Token"
WILDCARDS = ("", "*", "0.0.0.0", "::")


class KernelDoor:
    """The secret of one server, and its place in the environment that kernels inherit."""

    def __init__(self) -> None:
        self._secret = secrets.token_urlsafe(32)

    def opens(self, token: str) -> bool:
        """Whether `token` is the secret, compared in constant time."""
        return hmac.compare_digest(token.encode(errors="surrogatepass"), self._secret.encode())

    def publish(self, server: ServerApp) -> bool:
        """Tell future children where this server is; False when another one of this process already did.

        A variable inherited from a parent process names another pid and is replaced.
        """
        if server.sock or os.environ.get(PID) == str(os.getpid()):
            return False
        os.environ.update({PID: str(os.getpid()), URL: own_url(server), TOKEN: self._secret})
        return True

    def withdraw(self) -> None:
        """Take the variables back if they are ours."""
        if os.environ.get(TOKEN) == self._secret:
            for name in (PID, URL, TOKEN):
                os.environ.pop(name, None)


def own_url(server: ServerApp) -> str:
    """Where a child process reaches the server; call it when the port is bound."""
    host = "127.0.0.1" if server.ip in WILDCARDS else server.ip
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if server.certfile else "http"
    return f"{scheme}://{host}:{server.port}{server.base_url}"


class KernelSocket(JupyterAccess, ChatSocket):  # pyright: ignore[reportIncompatibleMethodOverride]
    """`{base_url}cashcode/kernel`: the same frames as the panels' socket, with room for a large cell."""

    max_frame = 8 * MEBIBYTE
    _requests: KernelRequests | None = None

    @allow_unauthenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        door: KernelDoor = self.settings["cashcode_kernel_door"]
        if (
            origin_of(self.request) is not None
            or not from_this_machine(self.request)
            or not door.opens(self.request.headers.get(HEADER, ""))
        ):
            raise Forbidden(_("Only kernels that this Jupyter server started may come in here."))
        await super().get(*args, **kwargs)

    async def open(self, *args: Any, **kwargs: Any) -> None:
        self._requests = KernelRequests(self.door.core, self._reply)
        await super().open(*args, **kwargs)

    async def on_message(self, message: str | bytes) -> None:
        small = len(message) <= self.max_frame
        if not (small and self._requests is not None and self._requests.take(message)):
            await super().on_message(message)

    def on_close(self) -> None:
        if self._requests is not None:
            self._requests.close()
        super().on_close()

    async def _reply(self, frame: dict[str, Any]) -> None:
        with suppress(WebSocketClosedError):
            await self.write_message(encode(frame))
