"""The compatibility listener: the seed's two addresses, for its clients, on loopback. Off by default.

There is no login here, so a browser's page must be of an allowed origin and must have used a loopback name
(else a rebound DNS name would do); everything behind these checks is the same code as on the Jupyter port.
"""

from __future__ import annotations

import errno
import socket
from typing import Any

from jupyter_server.auth import AllowAllAuthorizer, User
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting, Forbidden
from cashcode_jupyter.server.access import is_loopback, origin_of
from cashcode_jupyter.server.answers import JsonAnswers
from cashcode_jupyter.server.door import Door
from cashcode_jupyter.server.handlers import routes
from cashcode_jupyter.server.handlers.resource import MAX_BODY
from cashcode_jupyter.server.socket import ChatSocket

HOST = "127.0.0.1"
METHODS = "GET, PUT, POST, PATCH, DELETE, OPTIONS"
HEADERS = "Content-Type, X-Request-ID"


class PortTaken(BadSetting):
    """A port of the compatibility listener cannot be opened."""


class LoopbackAccess(JsonAnswers):
    """Instead of a login: this machine only, and pages only from the allowed origins."""

    authorizer = AllowAllAuthorizer()

    def _allows(self, origin: str) -> bool:
        return origin in self.settings["allowed_origins"]

    async def admit(self) -> None:
        if not is_loopback(self.request.host):
            raise Forbidden(_("Only names of this machine are served here: use 127.0.0.1 or localhost."))
        origin = origin_of(self.request)
        if origin is not None and not self._allows(origin):
            raise Forbidden(_("This origin is not allowed; CASHCODE_ALLOWED_ORIGINS lists those that are."))
        if origin is None and self.request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Forbidden(_("Another site's page may not load from here."))
        self.current_user = User("compatibility")

    def check_origin(self, origin: str = "") -> bool:
        return True  # admit has looked at it

    def check_xsrf_cookie(self) -> None:
        """There are no cookies here."""

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Vary", "Origin")
        origin = origin_of(self.request)
        if origin is not None and self._allows(origin):
            self.set_header("Access-Control-Allow-Origin", origin)
            self.set_header("Access-Control-Allow-Methods", METHODS)
            self.set_header("Access-Control-Allow-Headers", HEADERS)
            self.set_header("Access-Control-Expose-Headers", "X-Request-ID")

    def options(self, *args: Any, **kwargs: Any) -> None:
        self.set_status(204)


class CompatSocket(LoopbackAccess, ChatSocket):
    """The seed's socket, at any path."""


class CompatListener:
    """Both addresses of one server, open together or not at all."""

    def __init__(self, door: Door, settings: Settings) -> None:
        shared = {"cashcode": door, "allowed_origins": settings.allowed_origins}
        self._settings = settings
        self._ws = HTTPServer(_application([(r".*", CompatSocket, {"route": "compat"})], shared))
        self._http = HTTPServer(_application(_open_routes(), shared), max_body_size=2 * MAX_BODY)

    def start(self) -> dict[str, str]:
        """Bind both ports and return `{ws, http}`; `PortTaken` says in words which one cannot be had."""
        ws = _bind(self._settings.ws_port, "ws_port", "WS_PORT")
        try:
            http = _bind(self._settings.http_port, "http_port", "CASHCODE_HTTP_PORT")
        except PortTaken:
            for bound in ws:
                bound.close()
            raise
        self._ws.add_sockets(ws)
        self._http.add_sockets(http)
        return {
            "ws": f"ws://{HOST}:{ws[0].getsockname()[1]}/",
            "http": f"http://{HOST}:{http[0].getsockname()[1]}/api",
        }

    async def aclose(self) -> None:
        for server in (self._ws, self._http):
            server.stop()
            await server.close_all_connections()


def _application(rows: list[Any], shared: dict[str, Any]) -> Application:
    return Application(rows, log_function=lambda handler: None, **shared)  # our handlers log themselves


def _open_routes() -> list[Any]:
    """The same handlers, with the loopback rules in the place of Jupyter's login."""
    return [
        (path, type(f"Compat{handler.__name__}", (LoopbackAccess, handler), {}), arguments)
        for path, handler, arguments in routes("/api/", ".*")
    ]


def _bind(port: int, trait: str, variable: str) -> list[socket.socket]:
    try:
        return bind_sockets(port, HOST)
    except OSError as error:
        reason = _("another program uses it") if error.errno == errno.EADDRINUSE else error.strerror
        raise PortTaken(
            _(
                "The compatibility listener is not running: port {port} cannot be opened ({reason}). "
                "Set {variable} or CashCodeExtension.{trait} to a free port."
            ).format(port=port, reason=reason, variable=variable, trait=trait)
        ) from error
