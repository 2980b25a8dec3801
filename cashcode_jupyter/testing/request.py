"""HTTP/1.1 requests out of bytes, whatever the pieces they come in. What is no request is a BadHttp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LARGEST_HEAD = 64 * 1024
LARGEST_BODY = 256 * 1024 * 1024


class BadHttp(Exception):
    """Bytes that are no request this server takes; it is answered with `status` and the connection closes."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    keep_alive: bool
    chunks_understood: bool


class RequestReader:
    """The bytes of one connection so far, given back as requests."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._head: tuple[str, str, dict[str, str], bool] | None = None
        self._length = 0
        self._chunks: list[bytes] | None = None
        self._chunks_size = 0

    @property
    def waiting(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self, on_continue: Callable[[], None]) -> Request | None:
        """The next request, or None while it is not whole. Raises BadHttp.

        `on_continue` is called when the client waits for leave to send the body.
        """
        if self._head is None and not self._read_head(on_continue):
            return None
        body = self._read_length() if self._chunks is None else self._read_chunks(self._chunks)
        if body is None:
            return None
        assert self._head is not None
        method, path, headers, modern = self._head
        self._head = self._chunks = None
        asked = headers.get("connection", "").lower()
        keep_alive = "close" not in asked and (modern or "keep-alive" in asked)
        return Request(method, path, headers, body, keep_alive, modern)

    def _read_head(self, on_continue: Callable[[], None]) -> bool:
        end = self._buffer.find(b"\r\n\r\n", self._searched)
        if end < 0:
            if len(self._buffer) > LARGEST_HEAD:
                raise BadHttp(431, f"the head of the request is larger than {LARGEST_HEAD} bytes")
            self._searched = max(0, len(self._buffer) - 3)
            return False
        line, *lines = bytes(self._buffer[:end]).decode("latin-1").lstrip("\r\n").split("\r\n")
        del self._buffer[: end + 4]
        self._searched = 0
        words = line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise BadHttp(400, "the first line is not `METHOD PATH HTTP/1.1`")
        headers = {}
        for item in lines:
            name, colon, value = item.partition(":")
            if not colon or not name or name != name.strip():
                raise BadHttp(400, "a header line is not `name: value`")
            headers[name.lower()] = value.strip()
        self._head = words[0], words[1].partition("?")[0], headers, words[2] != "HTTP/1.0"
        if "chunked" in headers.get("transfer-encoding", "").lower():
            self._chunks, self._chunks_size = [], 0
        else:
            self._length = _length(headers.get("content-length", "0"))
        if headers.get("expect", "").lower() == "100-continue":
            on_continue()
        return True

    def _read_length(self) -> bytes | None:
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return body

    def _read_chunks(self, chunks: list[bytes]) -> bytes | None:
        while True:
            end = self._buffer.find(b"\r\n", 0, 1026)
            if end < 0:
                if len(self._buffer) > 1024:
                    raise BadHttp(400, "the size of a chunk is missing")
                return None
            text = bytes(self._buffer[:end]).partition(b";")[0].strip()
            if not text or any(byte not in b"0123456789abcdefABCDEF" for byte in text):
                raise BadHttp(400, "the size of a chunk is no hexadecimal number")
            size = int(text, 16)
            if self._chunks_size + size > LARGEST_BODY:
                raise BadHttp(413, f"the body is larger than {LARGEST_BODY} bytes")
            if len(self._buffer) < end + 2 + size + 2:
                return None
            if self._buffer[end + 2 + size : end + 4 + size] != b"\r\n":
                raise BadHttp(400, "a chunk is longer than it says (or the body has trailers)")
            if size:
                chunks.append(bytes(self._buffer[end + 2 : end + 2 + size]))
                self._chunks_size += size
            del self._buffer[: end + 4 + size]
            if not size:
                return b"".join(chunks)


def _length(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise BadHttp(400, "content-length is no number")
    if int(text) > LARGEST_BODY:
        raise BadHttp(413, f"the body is larger than {LARGEST_BODY} bytes")
    return int(text)
