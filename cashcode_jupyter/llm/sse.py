"""Bytes of a server-sent event stream to JSON payloads, at the cost of one split and one `raw_decode` an event.

One rule: how the bytes are cut into blocks never changes what comes out. Fields other than `data` and comments
are skipped. Each `data` line is tried by itself, because some servers leave out the blank line between events;
one that is no JSON alone is joined with the lines that follow it, as the standard says.
"""

from __future__ import annotations

import codecs
import json
from typing import Any

LONGEST_EVENT = 16 * 1024 * 1024
MOST_LINES = 1000
_decode = json.JSONDecoder(strict=False).raw_decode  # llama.cpp puts a literal LF inside JSON strings
_FIELDS = (b"event", b"id", b"retry", b"data")


class EventDecoder:
    """Feed it blocks; `done` after `[DONE]`, `broken` after an event that is no JSON or is too long."""

    def __init__(self) -> None:
        self.done = False
        self.broken = False
        self._first = True
        self._carriage = b""  # a CR at the end of a block, which may be half of a CR LF
        self._open: list[bytes] = []  # the start of a line whose end has not come yet
        self._open_size = 0
        self._held: list[bytes] = []  # data lines of one event that are no JSON so far
        self._held_size = 0

    def feed(self, block: bytes) -> list[Any]:
        """The payloads that became whole with this block, in order. After `broken` or `done` there are no more."""
        if b"\r" in block or self._carriage:
            block = self._normal_line_ends(block)
        if b"\n" not in block:
            self._open.append(block)
            self._open_size += len(block)
            self.broken = self.broken or self._open_size > LONGEST_EVENT
            return []
        if self._open:
            block = b"".join((*self._open, block))
        *lines, rest = block.split(b"\n")
        self._open = [rest] if rest else []
        self._open_size = len(rest)
        payloads: list[Any] = []
        for line in lines:
            self._line(line, payloads)
        return payloads

    def flush(self) -> list[Any]:
        """What the last line holds when the stream ends without a line end."""
        payloads: list[Any] = []
        if self._open:
            self._line(b"".join(self._open), payloads)
            self._open = []
        self._event_ends()
        return payloads

    def _normal_line_ends(self, block: bytes) -> bytes:
        block, self._carriage = self._carriage + block, b""
        if block.endswith(b"\r"):
            block, self._carriage = block[:-1], b"\r"
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _line(self, line: bytes, payloads: list[Any]) -> None:
        if self.done or self.broken:
            return
        if self._first:
            self._first, line = False, line.removeprefix(codecs.BOM_UTF8)
        if line.startswith(b"data:") and not self._held:
            text = line[5:].strip()
            if text == b"[DONE]":
                self.done = True
            elif text:
                try:
                    payloads.append(_parse(text))
                except ValueError:
                    self._hold(line[5:])
        elif self._held:
            self._continue(line, payloads)

    def _continue(self, line: bytes, payloads: list[Any]) -> None:
        if not line:
            self._event_ends()
            return
        if line.startswith(b":"):
            return
        name, colon, value = line.partition(b":")
        if not colon or name not in _FIELDS:
            self._hold(line)  # the rest of a string that was sent with a raw line end
        elif name == b"data":
            if value.strip() == b"[DONE]":
                self._event_ends()
                self.done = True
                return
            self._hold(value.removeprefix(b" "))
        else:
            return
        if self._held[-1].rstrip().endswith((b"}", b"]")):
            try:
                payloads.append(_parse(b"\n".join(self._held).strip()))
            except ValueError:
                return
            self._forget()

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_size += len(piece)
        self.broken = self.broken or self._held_size > LONGEST_EVENT or len(self._held) > MOST_LINES

    def _event_ends(self) -> None:
        if self._held:
            self.broken = True
        self._forget()

    def _forget(self) -> None:
        self._held = []
        self._held_size = 0


def _parse(text: bytes) -> Any:
    string = text.decode("utf-8", "replace")
    try:
        value, end = _decode(string)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(string):
        raise ValueError("more than one JSON value")
    return value


def parse_body(body: bytes) -> list[Any]:
    """The payloads of a body that was not streamed: one JSON value, or one a line, else `ValueError`."""
    try:
        return [_parse(body.strip().removeprefix(codecs.BOM_UTF8))]
    except ValueError:
        return [_parse(line.strip()) for line in body.splitlines() if line.strip()]
