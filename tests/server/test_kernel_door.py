from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.server.kernel_door import HEADER, PID, TOKEN, URL, KernelDoor, own_url
from tests.server.conftest import events_until


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PID, URL, TOKEN):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def server(**values: Any) -> Any:
    return SimpleNamespace(
        **{"ip": "localhost", "port": 8888, "base_url": "/a/", "certfile": "", "sock": ""} | values
    )


@pytest.mark.parametrize(
    ("values", "url"),
    [
        ({}, "http://localhost:8888/a/"),
        ({"ip": "0.0.0.0"}, "http://127.0.0.1:8888/a/"),
        ({"ip": ""}, "http://127.0.0.1:8888/a/"),
        ({"ip": "::1", "base_url": "/"}, "http://[::1]:8888/"),
        ({"ip": "10.0.0.7", "certfile": "c.pem"}, "https://10.0.0.7:8888/a/"),
    ],
)
def test_the_address_that_children_are_told_can_be_connected_to(values: dict[str, Any], url: str) -> None:
    assert own_url(server(**values)) == url


def test_the_published_secret_opens_the_door_and_nothing_else_does() -> None:
    door = KernelDoor()
    assert door.publish(server())
    assert os.environ[PID] == str(os.getpid())
    assert os.environ[URL] == "http://localhost:8888/a/"
    assert door.opens(os.environ[TOKEN])
    assert not door.opens("")
    assert not door.opens(os.environ[TOKEN][:-1])
    assert not door.opens("ключ\udc80")
    door.withdraw()
    assert {PID, URL, TOKEN}.isdisjoint(os.environ)


def test_what_a_parent_process_left_in_the_environment_is_replaced() -> None:
    os.environ.update({PID: "1", URL: "http://stale/", TOKEN: "stale"})
    door = KernelDoor()
    assert door.publish(server())
    assert door.opens(os.environ[TOKEN])


def test_a_second_server_of_this_process_leaves_the_first_ones_variables_alone() -> None:
    first, second = KernelDoor(), KernelDoor()
    assert first.publish(server())
    assert not second.publish(server(port=9999))
    second.withdraw()
    assert first.opens(os.environ[TOKEN])
    assert os.environ[URL] == "http://localhost:8888/a/"


def test_a_server_on_a_unix_socket_publishes_nothing() -> None:
    assert not KernelDoor().publish(server(sock="/run/s.sock"))
    assert PID not in os.environ


def test_the_secret_does_not_show_in_a_representation() -> None:
    door = KernelDoor()
    door.publish(server())
    assert os.environ[TOKEN] not in repr(door)


class TestSocket:
    @pytest.fixture
    def secret(self, extension: CashCodeExtension, jp_serverapp: Any) -> str:
        extension.kernel_door.publish(jp_serverapp)
        return os.environ[TOKEN]

    @pytest.fixture
    def connect(self, secret: str, http_server_client: Any, jp_base_url: str) -> Any:
        url = http_server_client.get_url(f"{jp_base_url}cashcode/kernel").replace("http", "ws", 1)
        return lambda **headers: websocket_connect(HTTPRequest(url, headers=headers))

    async def test_it_answers_the_secret_with_ready(self, connect: Any, secret: str) -> None:
        socket = await connect(**{HEADER: secret})
        assert '"ready"' in await socket.read_message()
        socket.close()

    @pytest.mark.parametrize(("mebibytes", "code"), [(7, None), (9, 1009)])
    async def test_it_takes_a_large_cell_but_not_more_than_eight_mebibytes(
        self, connect: Any, secret: str, mebibytes: int, code: int | None
    ) -> None:
        socket = await connect(**{HEADER: secret})
        await events_until(socket, "ready")
        await socket.write_message("x" * (mebibytes << 20))
        if code is None:
            assert (await events_until(socket, "error"))[-1]["code"] == "bad_frame"
        else:
            assert await socket.read_message() is None
            assert socket.close_code == code
        socket.close()

    @pytest.mark.parametrize("wrong", [{}, {HEADER: ""}, {HEADER: "wrong"}, {HEADER: "schl\u00fcssel"}])
    async def test_it_refuses_everyone_else(self, connect: Any, wrong: dict[str, str]) -> None:
        with pytest.raises(HTTPClientError) as refused:
            await connect(**wrong)
        assert refused.value.code == 403

    async def test_it_refuses_a_page_even_with_the_secret_and_our_own_origin(
        self, connect: Any, secret: str, own_origin: str
    ) -> None:
        with pytest.raises(HTTPClientError) as refused:
            await connect(**{HEADER: secret, "Origin": own_origin})
        assert refused.value.code == 403

    async def test_a_user_token_does_not_replace_the_secret(
        self, connect: Any, jp_auth_header: dict[str, str]
    ) -> None:
        with pytest.raises(HTTPClientError) as refused:
            await connect(**jp_auth_header)
        assert refused.value.code == 403

    async def test_the_secret_does_not_open_the_rest(self, secret: str, jp_fetch: Any) -> None:
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("cashcode", "api", "health", headers={"Authorization": "none", HEADER: secret})
        assert refused.value.code == 403
