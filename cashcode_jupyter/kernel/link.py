"""One connection to the agent: a socket to the parent server, or a client of a core in this process.

Both speak the protocol's frames. Where the server is found but does not answer, that is said once and the core
starts here; from then on this kernel stays with it, so a chat never has two writers from one kernel.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.discovery import Server, find_server
from cashcode_jupyter.kernel.failures import BadOption, ServerGone
from cashcode_jupyter.protocol.errors import Forbidden

if TYPE_CHECKING:
    from tornado.websocket import WebSocketClientConnection

    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.kernel.background import Background
    from cashcode_jupyter.resources.answer import Answer

CONNECT_SECONDS = 5.0
MAX_FRAME_IN = 64 << 20
TOO_LARGE = 1009


class LinkLost(Exception):
    """The connection broke; the turn goes on at the other side."""


class Unreachable(Exception):
    """The server did not take the connection; the text says why, in words."""


class Link(Protocol):
    async def send(self, action: Mapping[str, Any]) -> None:
        """Raises `LinkLost`."""
        ...

    def events(self) -> AsyncIterator[dict[str, Any]]:
        """Events until the other side closes, then `LinkLost`."""
        ...

    async def request(self, method: str, path: str, body: object = None) -> Answer:
        """One of the panels' REST routes, while `events` is read; raises `LinkLost`, `Forbidden`."""
        ...

    async def aclose(self) -> None: ...


def encode(action: Mapping[str, Any]) -> str:
    """The frame of an action. A lone surrogate, which UTF-8 cannot carry, goes as a JSON escape."""
    text = json.dumps(action, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(action)
    return text


class SocketLink:
    """A WebSocket to the Jupyter server. Tornado's client knows no proxies, which is right for a parent."""

    def __init__(self, socket: WebSocketClientConnection, *, answers: bool) -> None:
        self._socket = socket
        self._answers = answers
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._numbers = count(1)

    @classmethod
    async def open(cls, server: Server) -> SocketLink:
        from tornado.httpclient import HTTPClientError, HTTPRequest
        from tornado.websocket import WebSocketError, websocket_connect

        request = HTTPRequest(server.socket_url, headers=server.headers, connect_timeout=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                socket = await websocket_connect(request, max_message_size=MAX_FRAME_IN)
        except HTTPClientError as error:
            raise Unreachable(_refusal(error.code)) from error
        except TimeoutError as error:
            raise Unreachable(
                _("no answer within {seconds:.0f} seconds").format(seconds=CONNECT_SECONDS)
            ) from error
        except (OSError, WebSocketError) as error:
            raise Unreachable(getattr(error, "strerror", None) or type(error).__name__) from error
        return cls(socket, answers=server.answers_requests)

    async def send(self, action: Mapping[str, Any]) -> None:
        from tornado.iostream import StreamClosedError
        from tornado.websocket import WebSocketClosedError

        try:
            await self._socket.write_message(encode(action))
        except (WebSocketClosedError, StreamClosedError) as error:
            raise LinkLost from error

    async def request(self, method: str, path: str, body: object = None) -> Answer:
        if not self._answers:
            raise Forbidden(
                _(
                    "This kernel found its Jupyter server by the user's token, which panels are not given. "
                    "Start the kernel anew from JupyterLab, or open the panel there."
                )
            )
        number = next(self._numbers)
        asked = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            await self.send({"type": "request", "id": number, "method": method, "path": path, "body": body})
            return await asked
        except asyncio.CancelledError:
            with suppress(LinkLost):
                await self.send({"type": "request_cancel", "id": number})
            raise
        finally:
            del self._asked[number]

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        from cashcode_jupyter.resources.answer import Answer

        try:
            while (frame := await self._socket.read_message()) is not None:
                event = json.loads(frame)
                if not isinstance(event, dict):
                    continue
                if event.get("event") != "answer":
                    yield event
                elif (asked := self._asked.get(event["id"])) is not None and not asked.done():
                    asked.set_result(Answer(event["status"], event["body"]))
        finally:
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(LinkLost())
        if self._socket.close_code == TOO_LARGE:
            raise BadOption(_("The question with its context is too large for the Jupyter server; shorten it."))
        raise LinkLost

    async def aclose(self) -> None:
        self._socket.close()


def _refusal(status: int) -> str:
    if status == 404:
        return _("it runs without the CashCode extension; see `jupyter server extension list`")
    if status in (401, 403):
        return _("it refused our credentials")
    return _("it answered with HTTP status {status}").format(status=status)


class EmbeddedLink:
    """A client of the core in this process."""

    def __init__(self, core: CashCode) -> None:
        self._core = core
        self._client = core.connect()

    async def send(self, action: Mapping[str, Any]) -> None:
        await self._client.send(encode(action))

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        from cashcode_jupyter.agent.journal import SlowReader

        try:
            async for frame in self._client.frames():
                yield json.loads(frame)
        except SlowReader as error:
            raise LinkLost from error
        raise LinkLost

    async def request(self, method: str, path: str, body: object = None) -> Answer:
        from cashcode_jupyter.resources.answer import answer

        async def running() -> CashCode:
            return self._core

        return await answer(running, method, path, body)

    async def aclose(self) -> None:
        await self._client.aclose()


class Door:
    """The kernel's way to the agent. All of its coroutines run on the background loop."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._starting: asyncio.Lock | None = None
        self.core: CashCode | None = None
        self.server: Server | None = None
        self._notice = ""

    def line(self, chat_id: str) -> asyncio.Lock:
        """Where the questions of this kernel to one chat wait for each other.

        Events do not say whose question they answer, so two at a time could not be told apart.
        """
        return self._lines.setdefault(chat_id, asyncio.Lock())

    async def open(self) -> Link:
        """A new connection. Raises `CashCodeError` when not even the embedded core can start."""
        if self.core is None and (server := find_server()) is not None:
            try:
                link = await SocketLink.open(server)
            except Unreachable as reason:
                self.say_embedded(server, reason)
            else:
                self.server = server
                return link
        self.server = None
        return EmbeddedLink(await self.embedded())

    async def reopen(self) -> Link:
        """The same side again after `LinkLost`; raises `ServerGone` when it stays away for seven seconds."""
        if self.core is not None or self.server is None:
            return await self.open()
        reason: Unreachable | None = None
        for delay in (0.0, 0.2, 0.5, 1.0, 2.0, 3.0):
            await asyncio.sleep(delay)
            try:
                return await SocketLink.open(self.server)
            except Unreachable as error:
                reason = error
        raise ServerGone(
            _(
                "The connection to the Jupyter server broke and it does not answer any more ({reason}). "
                "What was streamed is above; the chat is kept, ask again when the server is back."
            ).format(reason=reason)
        )

    async def probe(self, server: Server) -> None:
        """Raise `Unreachable` unless the server takes our connections."""
        if self.server != server:
            await (await SocketLink.open(server)).aclose()
            self.server = server

    def say_embedded(self, server: Server, reason: Unreachable) -> None:
        self._notice = _(
            "The Jupyter server at {url} cannot be used ({reason}), so CashCode runs inside this kernel."
        ).format(url=server.url, reason=reason)

    async def embedded(self) -> CashCode:
        """The core of this process, started at first use."""
        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self.core is None:
                core = await asyncio.to_thread(_build_core)
                await core.start()
                self.core = core
                self._background.on_close(core.stop)
        return self.core

    def take_notice(self) -> str:
        """What a person must know about the connection, once."""
        notice, self._notice = self._notice, ""
        return notice


def _build_core() -> CashCode:
    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.config import Settings

    return CashCode(Settings.load(), workspace=Path.cwd(), console=False)
