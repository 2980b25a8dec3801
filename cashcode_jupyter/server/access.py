"""Who may come in, decided by where a request comes from.

Jupyter lets a request with a token come from any page. Here a page of another origin is refused also with a
token, because a token is easily left in a link and the agent can run code.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import origin_matches_pat
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import Forbidden
from cashcode_jupyter.server.answers import JsonAnswers


def origin_of(request: HTTPServerRequest) -> str | None:
    """The page that sent the request, lower case; None for programs, which send no such header."""
    origin = request.headers.get("Origin", request.headers.get("Sec-Websocket-Origin"))
    return None if origin is None else origin.lower()


class JupyterAccess(JsonAnswers, JupyterHandler):  # pyright: ignore[reportIncompatibleMethodOverride]
    """Jupyter's own checks (host, login, XSRF), and before them the origin for every kind of login."""

    async def admit(self) -> None:
        if not self.check_origin():
            raise Forbidden(
                _(
                    "Requests from this origin are refused. "
                    "Set ServerApp.allow_origin if the page is one that you trust."
                )
            )
        await super().admit()

    def check_origin(self, origin_to_satisfy_tornado: str = "") -> bool:
        origin = origin_of(self.request)
        if origin is None or self.allow_origin in ("*", origin):
            return True
        if self.allow_origin_pat and origin_matches_pat(self.allow_origin_pat, origin):
            return True
        try:
            netloc = urlsplit(origin).netloc
        except ValueError:
            return False
        return bool(netloc) and netloc == self.request.headers.get("Host", "").lower()

    def check_xsrf_cookie(self) -> None:
        try:
            super().check_xsrf_cookie()
        except HTTPError:
            raise Forbidden(
                _("The XSRF token is missing or does not match. Reload the page, or use an API token.")
            ) from None

    def get_login_url(self) -> str:
        raise Forbidden(_("You are not logged in: no valid token or cookie came with the request."))


def is_loopback(host: str) -> bool:
    """Whether a `Host` header (name or address, with or without port) or an address is of this machine itself."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def from_this_machine(request: HTTPServerRequest) -> bool:
    """Whether the other end of the connection is on this machine, whatever a proxy's headers say.

    That is a loopback address, the very address the connection came in on, or a UNIX socket.
    """
    connection: Any = request.connection
    stream = getattr(connection, "stream", None)
    socket = getattr(stream, "socket", None)
    if socket is None:
        return False
    try:
        peer, own = socket.getpeername(), socket.getsockname()
    except OSError:
        return False
    if not isinstance(peer, tuple):
        return True
    address = peer[0]
    return peer[0] == own[0] or ipaddress.ip_address(address.partition("%")[0]).is_loopback
