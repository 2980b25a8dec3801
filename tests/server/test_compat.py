from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect
from websockets.asyncio.client import connect

from cashcode_jupyter.server.compat import CompatListener, PortTaken
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.testing import ScriptedModel, directive
from tests.server.conftest import Answer, Call

ALLOWED, FOREIGN = "http://localhost:5173", "https://evil.example"
ROUTES = [("GET", "health"), ("GET", "settings/llm"), ("PUT", "memory"), ("GET", "sessions"), ("GET", "nothing")]


@pytest.fixture
def extension_config(extension_config: dict[str, Any]) -> dict[str, Any]:
    return extension_config | {"ws_port": 0, "http_port": 0}


@pytest.fixture
async def addresses(extension: CashCodeExtension) -> AsyncIterator[dict[str, str]]:
    extension.open_compat(extension.load_settings())
    assert extension.door.compat is not None
    yield extension.door.compat


async def request(address: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await AsyncHTTPClient().fetch(
        address,
        method=method,
        headers=sent,
        body=None if body is None else json.dumps(body),
        allow_nonstandard_methods=True,
        raise_error=False,
    )
    return Answer.of(response)


async def test_it_is_closed_unless_it_is_asked_for(extension: CashCodeExtension) -> None:
    assert extension.load_settings().compat_listener is False
    assert extension.door.compat is None


async def test_a_foreign_origin_is_403_also_for_reading(addresses: dict[str, str]) -> None:
    for method, path in ROUTES:
        answer = await request(f"{addresses['http']}/{path}", method, Origin=FOREIGN)
        assert (answer.status, answer.json["code"]) == (403, "forbidden"), path
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("host", ["rebound.example:8000", "rebound.example", "127.0.0.1.evil.example", "10.0.0.1"])
async def test_a_host_name_that_is_not_loopback_is_403(addresses: dict[str, str], host: str) -> None:
    for method, path in ROUTES:
        assert (await request(f"{addresses['http']}/{path}", method, Host=host)).status == 403, path


async def test_another_sites_page_that_sends_no_origin_is_403(addresses: dict[str, str]) -> None:
    answer = await request(f"{addresses['http']}/settings/llm", Sec_Fetch_Site="cross-site")
    assert answer.status == 403


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000"])
async def test_a_program_on_this_machine_is_let_in(addresses: dict[str, str], host: str) -> None:
    assert (await request(f"{addresses['http']}/nothing", Host=host)).status == 404


async def test_an_allowed_origin_gets_cors_headers_also_on_errors(addresses: dict[str, str]) -> None:
    answer = await request(f"{addresses['http']}/nothing", Origin=ALLOWED)
    assert answer.status == 404
    assert answer.headers["Access-Control-Allow-Origin"] == ALLOWED
    assert answer.headers["Vary"] == "Origin"


async def test_the_preflight_of_an_allowed_origin_is_answered(addresses: dict[str, str]) -> None:
    answer = await request(
        f"{addresses['http']}/memory", "OPTIONS", Origin=ALLOWED, Access_Control_Request_Method="PUT"
    )
    assert answer.status == 204
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in answer.headers["Access-Control-Allow-Headers"]


async def test_the_preflight_of_a_foreign_origin_is_refused(addresses: dict[str, str]) -> None:
    answer = await request(f"{addresses['http']}/memory", "OPTIONS", Origin=FOREIGN)
    assert answer.status == 403
    assert "Access-Control-Allow-Methods" not in answer.headers


@pytest.mark.parametrize("path", ["/sessions/%2e%2e", "/sessions/..", "/../", "/nothing"])
async def test_what_is_no_route_is_404_as_json_here_too(addresses: dict[str, str], path: str) -> None:
    answer = await request(addresses["http"] + path, "DELETE")
    assert (answer.status, answer.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("headers", [{"Origin": FOREIGN}, {"Host": "rebound.example"}, {"Origin": "null"}])
async def test_the_socket_refuses_foreign_origins_and_hosts(
    addresses: dict[str, str], headers: dict[str, str]
) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await websocket_connect(HTTPRequest(addresses["ws"], headers=headers))
    assert refused.value.code == 403


@pytest.mark.parametrize("path", ["", "chat", "any/path?client=1"])
async def test_the_socket_is_at_any_path(addresses: dict[str, str], path: str) -> None:
    connection = await websocket_connect(HTTPRequest(addresses["ws"] + path, headers={"Origin": ALLOWED}))
    ready = json.loads(await connection.read_message() or "")
    assert ready["event"] == "ready"
    connection.close()


@pytest.mark.parametrize(("trait", "variable"), [("ws_port", "WS_PORT"), ("http_port", "CASHCODE_HTTP_PORT")])
async def test_a_port_that_is_taken_is_said_with_what_to_set_and_the_main_door_goes_on(
    extension: CashCodeExtension, call: Call, trait: str, variable: str
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        setattr(extension, trait, port)
        extension.open_compat(extension.load_settings())
    health = await call("GET", "health")
    assert health.status == 200
    assert str(port) in health.json["compat"]["error"]
    assert variable in health.json["compat"]["error"]


async def test_when_one_port_is_taken_the_other_is_not_left_open(extension: CashCodeExtension) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ws_port = free.getsockname()[1]
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        extension.ws_port = ws_port  # pyright: ignore[reportAttributeAccessIssue]
        extension.http_port = other.getsockname()[1]  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(PortTaken):
            CompatListener(extension.door, extension.load_settings()).start()
    with socket.socket() as again:
        again.bind(("127.0.0.1", ws_port))


async def test_the_seeds_example_client_gets_its_answer(model: ScriptedModel, addresses: dict[str, str]) -> None:
    """Connect, take the chat of `ready`, send a message that names no model, read until `done`."""
    async with connect(addresses["ws"], origin=ALLOWED) as seed:  # pyright: ignore[reportArgumentType]
        ready = json.loads(await seed.recv())
        assert ready["event"] == "ready"
        assert ready["client_id"].startswith("client-")
        question = {"type": "message", "chat_id": ready["chat_id"], "content": directive(say="Hello, seed")}
        await seed.send(json.dumps(question | {"metadata": {"mentioned_skills": []}}))
        answer, events = "", []
        async for raw in seed:
            frame = json.loads(raw)
            events.append(frame["event"])
            if frame["event"] == "delta":
                answer += frame["text"]
            if frame["event"] in ("done", "error"):
                break
    assert answer == "Hello, seed"
    assert events[0] == "session_updated"
    assert events[-1] == "done"
    assert events.index("stream_end") > events.index("delta")


async def test_the_seeds_http_client_reads_what_was_said(model: ScriptedModel, addresses: dict[str, str]) -> None:
    async with connect(addresses["ws"]) as seed:
        chat_id = json.loads(await seed.recv())["chat_id"]
        question = {"type": "message", "chat_id": chat_id, "content": directive(say="noted")}
        await seed.send(json.dumps(question))
        while json.loads(await seed.recv())["event"] != "done":
            pass
    listed = await request(f"{addresses['http']}/sessions", Origin=ALLOWED)
    assert [row["chat_id"] for row in listed.json["sessions"]] == [chat_id]
    renamed = await request(f"{addresses['http']}/sessions/{chat_id}", "PATCH", {"title": "seed"}, Origin=ALLOWED)
    assert renamed.json["title"] == "seed"
    assert (await request(f"{addresses['http']}/sessions/{chat_id}", "DELETE")).status == 204


async def test_health_names_the_addresses(addresses: dict[str, str]) -> None:
    assert (await request(f"{addresses['http']}/health")).json["compat"] == addresses
