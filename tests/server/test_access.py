from __future__ import annotations

import warnings
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import JupyterServerAuthWarning
from tornado.httpclient import HTTPClientError

from cashcode_jupyter.server.access import is_loopback
from cashcode_jupyter.server.handlers import ROUTES
from tests.server.conftest import Browser, Call

FOREIGN = "https://evil.example"
REQUESTS = [
    (method.upper(), route.format(chat_id="abc", call_id="call_1"))
    for route, handler in ROUTES
    for method in ("get", "put", "post", "patch", "delete")
    if method in vars(handler)
]


class OnlyReading(Authorizer):
    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "cashcode" or action == "read"


class Nothing(Authorizer):
    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "cashcode"


def test_every_method_of_every_route_has_an_authentication_decorator(jp_environ: None) -> None:
    app = ServerApp(
        allow_unauthenticated_access=False,
        jpserver_extensions={"cashcode_jupyter": True},
        reraise_server_extension_failures=True,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        app.initialize(argv=[], find_extensions=False, new_httpserver=False)
    assert [str(w.message) for w in caught if issubclass(w.category, JupyterServerAuthWarning)] == []


@pytest.fixture(params=[True, False], ids=["jupyter's default", "strict"])
def unauthenticated_access(request: pytest.FixtureRequest, jp_server_config: dict[str, Any]) -> None:
    jp_server_config["ServerApp"]["allow_unauthenticated_access"] = request.param


async def test_without_a_login_every_route_is_403(unauthenticated_access: None, call: Call) -> None:
    for method, path in REQUESTS:
        answer = await call(method, path, auth=False)
        assert (answer.status, answer.json["code"]) == (403, "forbidden"), (method, path)


async def test_a_foreign_origin_is_403_on_every_route_even_with_a_token(call: Call) -> None:
    for method, path in REQUESTS:
        answer = await call(method, path, headers={"Origin": FOREIGN})
        assert (answer.status, answer.json["code"]) == (403, "forbidden"), (method, path)
        assert "origin" in answer.json["detail"]
        assert answer.headers.get("Access-Control-Allow-Origin") is None


@pytest.mark.parametrize("origin", ["null", "https://127.0.0.1", "http://localhost:1", "http://", "http://[::1"])
async def test_an_origin_that_only_resembles_ours_is_refused(call: Call, origin: str) -> None:
    assert (await call("GET", "nothing", headers={"Origin": origin})).status == 403


async def test_our_own_origin_is_let_in(call: Call, own_origin: str) -> None:
    assert (await call("GET", "nothing", headers={"Origin": own_origin})).status == 404


async def test_a_preflight_of_a_foreign_origin_is_refused(call: Call) -> None:
    headers = {"Origin": FOREIGN, "Access-Control-Request-Method": "PUT"}
    assert (await call("OPTIONS", "memory", headers=headers, auth=False)).status == 403


async def test_a_foreign_host_name_is_refused(call: Call) -> None:
    assert (await call("GET", "health", headers={"Host": "rebound.example:8888"})).status == 403


class TestWithAnAllowedOrigin:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"] |= {"allow_origin": "https://lab.example"}
        return jp_server_config

    async def test_that_origin_is_let_in_and_others_are_not(self, call: Call) -> None:
        assert (await call("GET", "nothing", headers={"Origin": "https://lab.example"})).status == 404
        assert (await call("GET", "nothing", headers={"Origin": FOREIGN})).status == 403


class TestWithAnOriginPattern:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"] |= {"allow_origin_pat": r"https://[a-z]+\.hub\.example"}
        return jp_server_config

    async def test_matching_origins_are_let_in_and_others_are_not(self, call: Call) -> None:
        assert (await call("GET", "nothing", headers={"Origin": "https://me.hub.example"})).status == 404
        assert (await call("GET", "nothing", headers={"Origin": FOREIGN})).status == 403


class TestXsrf:
    async def test_a_cookie_alone_may_read(self, call: Call, browser: Browser) -> None:
        headers = {"Cookie": browser.cookies}
        assert (await call("GET", "nothing", headers=headers, auth=False)).status == 404

    async def test_a_cookie_alone_may_not_write(self, call: Call, browser: Browser) -> None:
        answer = await call("PUT", "memory", {}, headers={"Cookie": browser.cookies}, auth=False)
        assert answer.status == 403
        assert "XSRF" in answer.json["detail"]

    async def test_a_cookie_with_the_xsrf_header_may_write(self, call: Call, browser: Browser) -> None:
        headers = {"Cookie": browser.cookies, "X-XSRFToken": browser.xsrf}
        assert (await call("PUT", "memory", {}, headers=headers, auth=False)).status == 422

    async def test_a_token_alone_may_write(self, call: Call) -> None:
        assert (await call("PUT", "memory", {})).status == 422


class TestAuthorizer:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], authorizer: type) -> dict[str, Any]:
        jp_server_config["ServerApp"] |= {"authorizer_class": authorizer}
        return jp_server_config

    @pytest.mark.parametrize("authorizer", [Nothing])
    async def test_a_user_without_permission_gets_403_on_every_route(self, call: Call) -> None:
        for method, path in REQUESTS:
            answer = await call(method, path, {})
            assert (answer.status, answer.json["code"]) == (403, "forbidden"), (method, path)

    @pytest.mark.parametrize("authorizer", [OnlyReading])
    async def test_a_user_who_may_read_may_not_write(self, call: Call) -> None:
        assert (await call("GET", "nothing")).status == 404
        assert (await call("PUT", "memory", {})).status == 403

    @pytest.mark.parametrize("authorizer", [OnlyReading])
    async def test_a_user_who_may_not_execute_gets_no_socket(self, jp_ws_fetch: Any) -> None:
        with pytest.raises(HTTPClientError) as refused:
            await jp_ws_fetch("cashcode", "ws")
        assert refused.value.code == 403


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST:8000", True),
        ("127.0.0.1:8765", True),
        ("127.9.9.9", True),
        ("[::1]:8000", True),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example:127", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("", False),
        ("[::1", False),
        ("localhost@evil.example", False),
    ],
)
def test_which_hosts_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
