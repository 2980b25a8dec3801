"""A real Jupyter server with the extension, at the base URL `/a%40b/`.

The fixtures of pytest-jupyter are imported instead of loaded as a plugin: its hooks would run every async test
of the project on its loop. Here its loop is pytest-asyncio's.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403
from pytest_jupyter.jupyter_server import pytest_pycollect_makeitem, pytest_pyfunc_call
from tornado.httpclient import HTTPClientError, HTTPResponse

from cashcode_jupyter.paths import default_config_dir
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.testing import ScriptedModel

del pytest_pycollect_makeitem, pytest_pyfunc_call


@pytest.fixture(autouse=True)
async def jp_asyncio_loop() -> AsyncIterator[asyncio.AbstractEventLoop]:
    yield asyncio.get_running_loop()


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    from cashcode_jupyter.config import table

    for _name, variables, _default, _help in table():
        for variable in variables:
            monkeypatch.delenv(variable, raising=False)
    for variable in ("XDG_CONFIG_HOME", "CASHCODE_SERVER_PID", "CASHCODE_KERNEL_TOKEN"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def extension_config() -> dict[str, Any]:
    """Override it to configure the extension."""
    return {"console_log_level": "CRITICAL"}


@pytest.fixture
def jp_server_config(extension_config: dict[str, Any]) -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": {"cashcode_jupyter": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
        },
        "CashCodeExtension": extension_config,
    }


@pytest.fixture
def extension(jp_serverapp: Any) -> CashCodeExtension:
    return jp_serverapp.extension_manager.extension_points["cashcode_jupyter"].app


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Any
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @classmethod
    def of(cls, response: HTTPResponse) -> Answer:
        return cls(response.code, response.headers, (response.body or b"").decode())


Call = Callable[..., Awaitable[Answer]]


@pytest.fixture
def call(jp_serverapp: Any, http_server_client: Any, jp_base_url: str, jp_auth_header: dict[str, str]) -> Call:
    """`await call(method, path, body)`: a request to our API that never raises for a status.

    `path` is used as it is, so that it may be wrongly encoded; with a slash in front it is not below `api/`.
    `auth=False` leaves the token out.
    """

    async def request(
        method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None, auth: bool = True
    ) -> Answer:
        sent = (jp_auth_header if auth else {}) | (headers or {})
        address = f"{jp_base_url}cashcode" + (path if path.startswith("/") else f"/api/{path}")
        raw = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
        try:
            response = await http_server_client.fetch(
                address,
                method=method,
                body=raw,
                headers=sent,
                allow_nonstandard_methods=True,
                follow_redirects=False,
                request_timeout=20,
            )
        except HTTPClientError as error:
            if error.response is None:
                raise
            response = error.response
        return Answer.of(response)

    return request


@dataclass(frozen=True)
class Browser:
    """What a logged-in browser sends by itself, and the XSRF token that only our own pages can read."""

    cookies: str
    xsrf: str


@pytest.fixture
async def browser(jp_fetch: Callable[..., Any], jp_auth_header: dict[str, str]) -> Browser:
    jar: SimpleCookie = SimpleCookie()
    for headers in ({"Authorization": "none"}, dict(jp_auth_header)):  # the form, then the login itself
        response = await jp_fetch("login", headers=headers, follow_redirects=False, raise_error=False)
        for line in response.headers.get_list("Set-Cookie"):
            jar.load(line)
    return Browser("; ".join(f"{name}={cookie.coded_value}" for name, cookie in jar.items()), jar["_xsrf"].value)


@pytest.fixture
def own_origin(jp_serverapp: Any, http_server_client: Any) -> Iterator[str]:
    yield http_server_client.get_url("")


@pytest.fixture
def model(jp_environ: None) -> Iterator[ScriptedModel]:
    """The scripted model, as the default model of the server's settings."""
    with ScriptedModel() as scripted:
        settings = default_config_dir() / "settings" / "llm.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            json.dumps(
                {
                    "version": 2,
                    "openai_compatible": {"base_url": scripted.url, "api_key": ""},
                    "ollama": {"base_url": ""},
                    "default": {"provider": "openai_compatible", "model": "mock"},
                }
            )
        )
        yield scripted


@pytest.fixture
def data_dir(jp_data_dir: Path) -> Path:
    return jp_data_dir / "cashcode"


class LogWatch(logging.Handler):
    """Waits for a log event by its name, instead of for a time."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self._loop.call_soon_threadsafe(self._news.set)

    async def seen(self, event: str, count: int = 1) -> list[logging.LogRecord]:
        while True:
            found = [record for record in self.records if record.getMessage() == event]
            if len(found) >= count:
                return found
            self._news.clear()
            async with asyncio.timeout(10):
                await self._news.wait()


@pytest.fixture
async def log_watch() -> AsyncIterator[LogWatch]:
    watch, logger = LogWatch(), logging.getLogger("cashcode")
    level = logger.level
    logger.addHandler(watch)
    logger.setLevel(logging.DEBUG)
    yield watch
    logger.removeHandler(watch)
    logger.setLevel(level)


async def events_until(socket: Any, *last: str) -> list[dict[str, Any]]:
    """The events of a tornado client connection, up to and including the first of `last`."""
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        while not events or events[-1]["event"] not in last:
            frame = await socket.read_message()
            assert frame is not None, f"closed with {socket.close_code} after {events}"
            events.append(json.loads(frame))
    return events


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["event"] == "delta")
