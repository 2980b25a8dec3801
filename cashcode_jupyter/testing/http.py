"""A small HTTP/1.1 server on asyncio's protocols, which knows at once that a client has left.

A connection owns the task that answers its request and ends it when the connection is lost. The end of what a
client sends counts as its leaving: so an aborted stream is seen while nothing is being written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from cashcode_jupyter.testing.chunks import dumps
from cashcode_jupyter.testing.request import LARGEST_BODY, BadHttp, Request, RequestReader

YIELD_EVERY = 64

_log = logging.getLogger(__name__)


class Exchange:
    """One request and the way to answer it. Only `drain` and `break_off` wait, for a client that reads slowly."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self.request = request
        self.connection = connection.number
        self.started = False
        self.cut = False
        self._connection = connection
        self._chunked = False
        self._ended = False

    @property
    def abandoned(self) -> bool:
        """The client left before the answer was whole."""
        return self._connection.gone and not (self._ended or self.cut or self._connection.server.closing)

    def send(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        named = f"content-type: {content_type}\r\n" if content_type else ""
        named += f"content-length: {len(body)}\r\n"
        self._write_head(status, named, headers, b"" if self.request.method == "HEAD" else body)
        self._ended = not self._connection.gone

    def begin(self, content_type: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """The head of a body whose length nobody knows yet."""
        named = f"content-type: {content_type}\r\ncache-control: no-cache\r\n" if content_type else ""
        self._chunked = self.request.chunks_understood
        named += "transfer-encoding: chunked\r\n" if self._chunked else "connection: close\r\n"
        self._write_head(200, named, headers)

    def _write_head(self, status: int, named: str, headers: tuple[tuple[str, str], ...], body: bytes = b"") -> None:
        self.started = True
        more = "".join(f"{name}: {value}\r\n" for name, value in headers)
        text = f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}\r\n{named}{more}\r\n"
        self._connection.write(text.encode("latin-1", "replace") + body)

    def write(self, data: bytes) -> None:
        self._connection.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def drain(self) -> None:
        await self._connection.drain()

    def end(self) -> None:
        if self._chunked:
            self._connection.write(b"0\r\n\r\n")
        self._ended = not self._connection.gone
        if not self._chunked:
            self._connection.close()

    async def break_off(self) -> None:
        """Ends the connection in the middle of the body, after what was written has gone out."""
        self.cut = True
        await self._connection.flush()
        self._connection.abort()


Respond = Callable[[Exchange], Awaitable[None]]


class HttpServer:
    """Every connection of one listening socket."""

    def __init__(self, respond: Respond, on_connections: Callable[[int], None] = lambda change: None) -> None:
        self.respond = respond
        self.on_connections = on_connections
        self.closing = False
        self.connections: set[Connection] = set()
        self.accepted = 0
        self._server: asyncio.Server | None = None
        self._empty = asyncio.Event()

    async def listen(self, host: str, port: int) -> int:
        """Returns the port. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), host, port, backlog=1024)
        return self._server.sockets[0].getsockname()[1]

    def came(self, connection: Connection) -> None:
        self.accepted += 1
        connection.number = self.accepted
        self.connections.add(connection)
        self.on_connections(1)
        if self.closing:
            connection.abort()

    def left(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.on_connections(-1)
        if self.closing and not self.connections:
            self._empty.set()

    async def aclose(self) -> None:
        """Ends the listening, every connection and every task."""
        self.closing = True
        if self._server is not None:
            self._server.close()
        tasks = [connection.task for connection in self.connections if connection.task is not None]
        for connection in list(self.connections):
            connection.abort()
        if self.connections:
            await self._empty.wait()
        if tasks:
            await asyncio.wait(tasks)
        if self._server is not None:
            await self._server.wait_closed()


class Connection(asyncio.Protocol):
    """One client's connection: reads requests, answers them one after the other."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.number = 0
        self.task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._reader = RequestReader()
        self._writable: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.server.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.resume_writing()
        if self.task is not None:
            self.task.cancel()
        self.server.left(self)

    def data_received(self, data: bytes) -> None:
        if self.task is not None and self._reader.waiting > LARGEST_BODY:
            self.abort()
            return
        self._reader.feed(data)
        self._next()

    def _next(self) -> None:
        if self.task is not None or self.gone:
            return
        try:
            request = self._reader.take(self._continue)
        except BadHttp as error:
            self.write(
                b"HTTP/1.1 %d Error\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: "
                % error.status
            )
            body = dumps({"error": {"message": str(error), "type": "invalid_request_error"}})
            self.write(b"%d\r\n\r\n%b" % (len(body), body))
            self.close()
            return
        if request is not None:
            self.task = asyncio.get_running_loop().create_task(self._answer(Exchange(self, request)))
            self.task.add_done_callback(self._answered)

    def _continue(self) -> None:
        self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _answer(self, exchange: Exchange) -> None:
        try:
            await self.server.respond(exchange)
        except Exception as error:  # noqa: BLE001 - the border: a bug ends its own answer, not the server
            _log.exception("the scripted model failed")
            if exchange.started:
                self.abort()
            else:
                exchange.send(500, dumps({"error": {"message": f"bug in the scripted model: {error!r}"}}))
        if not exchange.request.keep_alive:
            self.close()

    def _answered(self, task: asyncio.Task[None]) -> None:
        self.task = None
        self._next()

    @property
    def gone(self) -> bool:
        """Nothing that is written now can arrive."""
        return self._transport is None or self._transport.is_closing()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    async def drain(self) -> None:
        if self._writable is not None:
            await self._writable

    async def flush(self) -> None:
        """Waits until the kernel has taken everything that was written."""
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._transport.set_write_buffer_limits(high=0)
            await self.drain()


_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
