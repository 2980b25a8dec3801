"""What panels ask over the kernel's socket: the routes that they use, with the kernel's secret and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from cashcode_jupyter.paths import default_config_dir
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.server.kernel_door import HEADER, TOKEN
from tests.server.conftest import LogWatch, events_until


class Kernel:
    """A kernel's end of the socket."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self._number = 0

    async def send(self, **frame: Any) -> None:
        await self.socket.write_message(json.dumps(frame))

    async def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        self._number += 1
        await self.send(type="request", id=self._number, method=method, path=path, body=body)
        answer = (await events_until(self.socket, "answer"))[-1]
        assert answer["id"] == self._number
        return answer["status"], answer["body"]


@pytest.fixture
async def kernel(
    extension: CashCodeExtension, jp_serverapp: Any, http_server_client: Any, jp_base_url: str
) -> AsyncIterator[Kernel]:
    extension.kernel_door.publish(jp_serverapp)
    url = http_server_client.get_url(f"{jp_base_url}cashcode/kernel").replace("http", "ws", 1)
    socket = await websocket_connect(HTTPRequest(url, headers={HEADER: os.environ[TOKEN]}))
    await events_until(socket, "ready")
    yield Kernel(socket)
    socket.close()


async def test_a_panels_route_is_answered_as_over_http(kernel: Kernel, call: Any) -> None:
    for path in ("health", "sessions?limit=3", "settings/llm", "settings/approvals", "persona"):
        assert await kernel.request("GET", path) == (200, (await call("GET", path)).json)


async def test_the_memory_is_not_for_panels(kernel: Kernel) -> None:
    status, body = await kernel.request("GET", "memory")
    assert (status, body["code"]) == (404, "not_found")


async def test_a_key_goes_in_and_never_comes_out(kernel: Kernel) -> None:
    body = {"openai_compatible": {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-inwards"}}
    status, saved = await kernel.request("PUT", "settings/llm", body)
    assert (status, saved["openai_compatible"]["api_key_configured"]) == (200, True)
    assert "sk-inwards" in (default_config_dir() / "settings" / "llm.json").read_text()
    assert "sk-inwards" not in json.dumps([saved, await kernel.request("GET", "settings/llm")])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "", 404),
        ("GET", "/api/contents", 404),
        ("GET", "../../api/contents", 404),
        ("GET", "sessions/%2e%2e/messages", 404),
        ("GET", "sessions/a%0a/messages", 404),
        ("GET", "health\n", 404),
        ("GET", "sessions?" + "a&" * 1000, 400),
        ("GET", "sessions?limit=x", 422),
        ("BREW", "health", 405),
        ("PUT", "persona", 400),
        ("GET", None, 404),
        (None, "health", 405),
    ],
)
async def test_a_wrong_request_gets_its_status_and_the_socket_stays(
    kernel: Kernel, method: Any, path: Any, status: int
) -> None:
    found, body = await kernel.request(method, path)
    assert found == status
    assert set(body) == {"code", "detail", "request_id"}
    assert (await kernel.request("GET", "health"))[0] == 200


@pytest.mark.parametrize("number", [None, "1", 1.5, True, [1]])
async def test_a_request_without_a_number_is_no_frame_of_ours(kernel: Kernel, number: Any) -> None:
    await kernel.send(type="request", id=number, method="GET", path="health")
    assert (await events_until(kernel.socket, "error"))[-1]["code"] == "unknown_type"


@pytest.fixture
async def silent() -> AsyncIterator[dict[str, Any]]:
    """A model server that takes connections and never answers."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    async with server:
        yield {"openai_compatible": {"base_url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"}}


async def test_a_slow_request_delays_no_other_and_can_be_cancelled(kernel: Kernel, silent: Any) -> None:
    await kernel.send(type="request", id=77, method="POST", path="settings/llm/test", body=silent)
    assert (await kernel.request("GET", "health"))[0] == 200
    await kernel.send(type="request_cancel", id=77)
    await kernel.send(type="request", id=77, method="GET", path="health")
    assert (await events_until(kernel.socket, "answer"))[-1]["status"] == 200


async def test_more_than_32_requests_at_once_are_refused(kernel: Kernel, silent: Any) -> None:
    for number in range(100, 133):
        await kernel.send(type="request", id=number, method="POST", path="settings/llm/test", body=silent)
    answer = (await events_until(kernel.socket, "answer"))[-1]
    assert (answer["id"], answer["status"]) == (132, 503)


async def test_the_panels_own_socket_takes_no_requests(jp_ws_fetch: Any) -> None:
    socket = await jp_ws_fetch("cashcode", "ws")
    await events_until(socket, "ready")
    await socket.write_message(json.dumps({"type": "request", "id": 1, "method": "GET", "path": "health"}))
    assert (await events_until(socket, "error"))[-1]["code"] == "unknown_type"
    socket.close()


async def test_a_request_leaves_a_log_line_without_content(kernel: Kernel, log_watch: LogWatch) -> None:
    await kernel.request("PATCH", "sessions/abc?about=private", {"title": "private", "extra": 1})
    [record] = await log_watch.seen("panel.request")
    fields = record.__dict__["fields"]
    assert (fields["method"], fields["route"], fields["status"]) == ("PATCH", "sessions/{chat_id}", 422)
    assert "private" not in json.dumps(fields)
