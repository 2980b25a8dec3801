from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPClientError
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from cashcode_jupyter.server import socket as socket_module
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.server.socket import PanelSocket
from cashcode_jupyter.testing import ScriptedModel, directive
from tests.server.conftest import Call, LogWatch, events_until, text_of


@pytest.fixture
def address(http_server_client: Any, jp_base_url: str) -> str:
    return http_server_client.get_url(f"{jp_base_url}cashcode/ws").replace("http", "ws", 1)


async def say(ws: Any, content: str, **fields: Any) -> None:
    await ws.write_message(json.dumps({"type": "message", "content": content, **fields}))


async def test_on_open_it_says_ready_with_a_chat_of_its_own(jp_ws_fetch: Any) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    [ready] = await events_until(ws, "ready")
    assert ready["chat_id"]
    assert ready["client_id"].startswith("client-")
    ws.close()


async def test_a_question_gets_its_answer_as_the_model_streams_it(jp_ws_fetch: Any, model: ScriptedModel) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    [ready] = await events_until(ws, "ready")
    await say(ws, directive(say="Hello from the model", chunks=4), chat_id=ready["chat_id"])
    events = await events_until(ws, "done", "error")
    assert events[-1]["event"] == "done"
    assert text_of(events) == "Hello from the model"
    assert {event["chat_id"] for event in events} == {ready["chat_id"]}
    ws.close()


async def test_the_first_words_arrive_while_the_model_still_talks(jp_ws_fetch: Any, model: ScriptedModel) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    [ready] = await events_until(ws, "ready")
    await say(ws, directive(chunks=40, delay_ms=50), chat_id=ready["chat_id"])
    await events_until(ws, "delta")
    assert model.requests[-1].aborted is False
    await ws.write_message(json.dumps({"type": "stop", "chat_id": ready["chat_id"]}))
    events = await events_until(ws, "done")
    assert events[-1]["stop_reason"] == "cancelled"
    assert await model.until(lambda model: model.aborted == 1)
    ws.close()


@pytest.mark.parametrize("frame", ["", "x", "[]", '{"type": 1}', b"\xff\xfe", "[" * 50_000])
async def test_a_malformed_frame_gets_an_error_and_the_socket_stays_open(jp_ws_fetch: Any, frame: Any) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    await ws.write_message(frame, binary=isinstance(frame, bytes))
    events = await events_until(ws, "error")
    assert events[-1]["code"] == "bad_frame"
    assert events[-1]["detail"] == "typed JSON envelope required"
    await ws.write_message(b'{"type": "ping"}', binary=True)
    await events_until(ws, "pong")
    ws.close()


@pytest.mark.parametrize("size", [(1 << 20) + 1, 3 << 20])
async def test_a_frame_of_more_than_one_mebibyte_closes_with_1009(jp_ws_fetch: Any, size: int) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    await events_until(ws, "ready")
    await ws.write_message("x" * size)
    assert await ws.read_message() is None
    assert ws.close_code == 1009


async def test_a_frame_of_exactly_one_mebibyte_is_read(jp_ws_fetch: Any) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    await ws.write_message("é" * (1 << 19))
    events = await events_until(ws, "error")
    assert events[-1]["code"] == "bad_frame"
    ws.close()


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}])
async def test_a_foreign_origin_is_403_even_with_a_token(jp_ws_fetch: Any, headers: dict[str, str]) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("cashcode", "ws", headers=headers)
    assert refused.value.code == 403


async def test_a_token_in_the_address_does_not_help_a_foreign_origin(
    address: str, jp_auth_header: dict[str, str]
) -> None:
    token = jp_auth_header["Authorization"].removeprefix("token ")
    async with connect(f"{address}?token={token}") as ws:
        assert json.loads(await ws.recv())["event"] == "ready"
    with pytest.raises(Exception, match="403"):
        await connect(f"{address}?token={token}", additional_headers={"Origin": "https://evil.example"})


async def test_without_a_login_it_is_403(jp_ws_fetch: Any) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("cashcode", "ws", headers={"Authorization": "none"})
    assert refused.value.code == 403


async def test_a_plain_request_to_it_is_400_as_json(call: Call) -> None:
    answer = await call("GET", "/ws")
    assert answer.status == 400
    assert answer.json["code"] == "bad_frame"
    assert "WebSocket" in answer.json["detail"]


async def test_a_core_that_cannot_start_says_why_and_closes(jp_ws_fetch: Any, data_dir: Path) -> None:
    data_dir.mkdir(parents=True)
    (data_dir / "logs").write_text("a file where a folder is needed")
    ws = await jp_ws_fetch("cashcode", "ws")
    error = json.loads(await ws.read_message())
    assert (error["event"], error["code"]) == ("error", "storage")
    assert "CASHCODE_LOG_DIR" in error["detail"]
    assert await ws.read_message() is None
    assert ws.close_code == 1011


async def test_a_core_that_could_not_start_is_tried_again(call: Call, data_dir: Path) -> None:
    data_dir.mkdir(parents=True)
    (data_dir / "logs").write_text("a file where a folder is needed")
    assert (await call("GET", "health")).status == 507
    (data_dir / "logs").unlink()
    assert (await call("GET", "health")).status == 200


async def test_a_turn_goes_on_without_its_socket_and_can_be_attached_to(
    jp_ws_fetch: Any, model: ScriptedModel, log_watch: LogWatch
) -> None:
    first = await jp_ws_fetch("cashcode", "ws")
    [ready] = await events_until(first, "ready")
    await say(first, directive(say="one two three four", chunks=18, delay_ms=30), chat_id=ready["chat_id"])
    seen = await events_until(first, "delta")
    first.close()
    await log_watch.seen("socket.closed")
    second = await jp_ws_fetch("cashcode", "ws")
    await events_until(second, "ready")
    await second.write_message(
        json.dumps({"type": "attach", "chat_id": ready["chat_id"], "after_seq": seen[-1]["seq"]})
    )
    rest = await events_until(second, "done")
    assert text_of(seen) + text_of(rest) == "one two three four"
    second.close()


async def test_a_stalled_socket_is_closed_with_1013_and_delays_no_other_chat(
    address: str,
    http_server_port: Any,
    jp_ws_fetch: Any,
    jp_auth_header: dict[str, str],
    model: ScriptedModel,
    log_watch: LogWatch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PanelSocket, "stalled_after", 0.5)
    host, port = urlsplit(address).hostname, urlsplit(address).port
    assert host is not None
    http_server_port[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect((host, port))
    narrow.setblocking(False)
    stalled = await connect(address, additional_headers=jp_auth_header, max_queue=1, max_size=None, sock=narrow)
    ready = json.loads(await stalled.recv())
    content = directive(chunks=20, size=10_000)
    await stalled.send(json.dumps({"type": "message", "chat_id": ready["chat_id"], "content": content}))

    other = await jp_ws_fetch("cashcode", "ws")
    [other_ready] = await events_until(other, "ready")
    await say(other, directive(say="not delayed"), chat_id=other_ready["chat_id"])
    assert text_of(await events_until(other, "done")) == "not delayed"
    other.close()

    await log_watch.seen("socket.stalled")
    with pytest.raises(ConnectionClosed):
        while True:
            await stalled.recv()
    assert stalled.close_code == 1013


async def test_a_peer_that_answers_no_ping_is_closed(
    address: str, jp_auth_header: dict[str, str], log_watch: LogWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "PING_SECONDS", 0.1)
    url = urlsplit(address)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(
        f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        f"Authorization: {jp_auth_header['Authorization']}\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    assert b"ready" in await reader.readuntil(b"}")
    async with asyncio.timeout(5):
        await reader.readuntil(b"ping timed out")
    writer.close()
    await log_watch.seen("socket.closed")


async def test_when_the_server_stops_open_sockets_are_told_so(
    jp_ws_fetch: Any, extension: CashCodeExtension
) -> None:
    ws = await jp_ws_fetch("cashcode", "ws")
    await events_until(ws, "ready")
    await extension.stop_extension()
    assert await ws.read_message() is None
    assert ws.close_code == 1001
