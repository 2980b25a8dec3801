"""A kernel of the Jupyter server, driven through the server's socket as a browser does it."""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.chat import MAX_FRAME
from benchmarks.server import TOKEN, Server

SHOWN = ("stream", "display_data", "update_display_data", "execute_result", "clear_output", "comm_msg", "comm_open")


@dataclass
class Output:
    """What one cell sent to the browser: `size` is the JSON of message contents, `stdout` what was streamed."""

    messages: int = 0
    size: int = 0
    seconds: float = 0.0
    stdout: str = ""
    shown: str = ""
    error: str = ""


class Kernel:
    """One kernel, as a browser is connected to it; cells run one after the other."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        self._session = uuid.uuid4().hex

    async def run(self, code: str) -> Output:
        """Execute a cell as JupyterLab would; returns when the kernel is idle again."""
        output, message_id, started = Output(), uuid.uuid4().hex, time.perf_counter()
        await self._connection.write_message(self._request(code, message_id))
        while (raw := await self._connection.read_message()) is not None:
            message = json.loads(raw)
            if message["parent_header"].get("msg_id") != message_id or message.get("channel") != "iopub":
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                output.seconds = time.perf_counter() - started
                return output
            if kind in SHOWN:
                output.messages += 1
                output.size += len(json.dumps(content, ensure_ascii=False).encode())
            if kind == "stream":
                output.stdout += content["text"]
            elif kind in ("display_data", "update_display_data"):
                output.shown += str(content["data"].get("text/plain", ""))
            elif kind == "error":
                output.error = f"{content['ename']}: {content['evalue']}"
        raise ConnectionError("the server closed the kernel's socket")

    def _request(self, code: str, message_id: str) -> str:
        header = {"msg_id": message_id, "msg_type": "execute_request", "session": self._session}
        header |= {"username": "", "version": "5.3", "date": "2026-01-01T00:00:00Z"}
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": True, "stop_on_error": True}
        content["user_expressions"] = {}
        message = {"header": header, "parent_header": {}, "content": content, "channel": "shell", "buffers": []}
        return json.dumps(message | {"metadata": {"cellId": str(uuid.uuid4())}})


def _call(server: Server, method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}{path}", data, method=method)
    request.add_header("Authorization", f"token {TOKEN}")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


@asynccontextmanager
async def kernel(server: Server) -> AsyncIterator[Kernel]:
    """A new Python kernel, ready for cells; it ends with the block."""
    kernel_id = _call(server, "POST", "api/kernels", {"name": "python3"})["id"]
    try:
        url = f"ws{server.url.removeprefix('http')}api/kernels/{kernel_id}/channels?token={TOKEN}"
        connection = await websocket_connect(url, max_message_size=MAX_FRAME)
        try:
            made = Kernel(connection)
            await made.run("pass")
            yield made
        finally:
            connection.close()
    finally:
        _call(server, "DELETE", f"api/kernels/{kernel_id}")
