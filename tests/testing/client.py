"""A plain client for these tests: what goes over the wire is looked at as it is."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.testing import ScriptedModel

NOOP = {"type": "function", "function": {"name": "noop", "parameters": {"type": "object"}}}
GREP = {"type": "function", "function": {"name": "grep", "parameters": {"type": "object"}}}


@dataclass(frozen=True)
class Got:
    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> dict[str, Any]:
        return self.json["choices"][0]["message"]

    @property
    def error(self) -> str:
        return self.json["error"]["message"]

    @property
    def data(self) -> list[bytes]:
        """What stands after `data: `, without [DONE]."""
        lines = [line[6:] for line in self.body.split(b"\n") if line.startswith(b"data: ")]
        return [line for line in lines if line != b"[DONE]"]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.data]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        choices = [choice for event in self.events for choice in event.get("choices") or ()]
        return [choice["delta"] for choice in choices if choice.get("delta")]

    @property
    def text(self) -> str:
        return "".join(delta.get("content") or "" for delta in self.deltas)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The `tool_calls` entries of all deltas."""
        return [part for delta in self.deltas for part in delta.get("tool_calls", ())]

    @property
    def finish(self) -> list[Any]:
        choices = [choice for event in self.events for choice in event.get("choices") or ()]
        return [choice["finish_reason"] for choice in choices if choice["finish_reason"] is not None]

    @property
    def done(self) -> bool:
        return b"data: [DONE]" in self.body


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def send(
    model: ScriptedModel, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> Got:
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
    try:
        connection.request(method, path, body or None, headers or {})
        response = connection.getresponse()
        try:
            data, cut = response.read(), False
        except http.client.IncompleteRead as error:
            data, cut = error.partial, True
        names = {name.lower(): value for name, value in response.getheaders()}
        return Got(response.status, names, data, cut)
    finally:
        connection.close()


def post(model: ScriptedModel, body: Any, headers: dict[str, str] | None = None) -> Got:
    return send(model, "POST", "/v1/chat/completions", json.dumps(body).encode(), headers)


def ask(server: ScriptedModel, content: str, *, after: list[Any] | None = None, **more: Any) -> Got:
    """One completion, streamed unless `stream=False`. `after` are messages behind the user's."""
    return post(server, {"model": "m", "stream": True, "messages": [user(content), *(after or [])], **more})


def open_stream(model: ScriptedModel, content: str, **more: Any) -> socket.socket:
    """The request is sent; nothing was read yet."""
    body = json.dumps({"model": "m", "stream": True, "messages": [user(content)], **more}).encode()
    wire = socket.create_connection(("127.0.0.1", model.port), timeout=10)
    wire.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    return wire


def read_until(wire: socket.socket, end: bytes) -> bytes:
    data = b""
    while end not in data:
        piece = wire.recv(65536)
        if not piece:
            break
        data += piece
    return data
