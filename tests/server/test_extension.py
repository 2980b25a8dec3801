from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from websockets.sync.client import connect

from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.testing import ScriptedModel, directive

HEAVY = ("pydantic", "openai", "mcp", "numpy", "rank_bm25", "httpx2", "xllamacpp", "cashcode_jupyter.app")

LOADING = """
import json, sys, threading
from jupyter_server.serverapp import ServerApp
app = ServerApp(jpserver_extensions={"cashcode_jupyter": True}, reraise_server_extension_failures=True)
app.initialize(argv=[], find_extensions=False, new_httpserver=False)
assert "cashcode_jupyter" in app.web_app.settings
print(json.dumps(sorted(sys.modules)))
"""

SERVING = """
import json, os, sys

connected = []

def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        connected.append(list(arguments[1][:2]))

sys.addaudithook(watch)
from cashcode_jupyter.server.extension import CashCodeExtension, main

def tell(**facts):
    print(json.dumps(facts), flush=True)

start, stop = CashCodeExtension._start_jupyter_server_extension, CashCodeExtension.stop_extension

async def started(self, server):
    await start(self, server)
    tell(
        url=server.connection_url,
        token=server.identity_provider.token,
        extensions=sorted(server.extension_manager.extensions),
        environment={name: os.environ.get(name) for name in os.environ if name.startswith("CASHCODE_")},
        connected=connected,
        pid=os.getpid(),
    )

async def stopped(self):
    await stop(self)
    tell(connected=connected, left=[name for name in os.environ if name.startswith("CASHCODE_SERVER")])

CashCodeExtension._start_jupyter_server_extension = started
CashCodeExtension.stop_extension = stopped
main(["--allow-root", "--port=0", "--ServerApp.shutdown_no_activity_timeout=120"])
"""


class Server:
    """`jupyter cashcode` in a child process; `facts` is what it says of itself when it listens."""

    def __init__(self, process: subprocess.Popen[str], out: IO[str]) -> None:
        self._process = process
        self._out = out
        line = out.readline()
        assert line, "the server did not start"
        self.facts: dict[str, Any] = json.loads(line)

    def get(self, path: str) -> Any:
        request = urllib.request.Request(
            self.facts["url"] + path, headers={"Authorization": f"token {self.facts['token']}"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())

    def stop(self) -> dict[str, Any]:
        self._process.send_signal(signal.SIGTERM)
        last = json.loads(self._out.readline())
        self._process.wait(timeout=20)
        return last


@pytest.fixture
def server_environment() -> dict[str, str]:
    """What an outer server left behind; override it to add settings."""
    return {"NO_PROXY": "*", "CASHCODE_SERVER_PID": "1", "CASHCODE_KERNEL_TOKEN": "stale"}


@pytest.fixture
def server(jp_environ: None, server_environment: dict[str, str]) -> Iterator[Server]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVING],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | server_environment,
    ) as process:
        assert process.stdout is not None
        try:
            yield Server(process, process.stdout)
        finally:
            process.kill()


def test_loading_imports_nothing_heavy_and_not_the_core(jp_environ: None) -> None:
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, timeout=60, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "cashcode_jupyter.server.extension" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_nothing_is_connected_to_before_the_first_message_and_the_model_after_it(
    server: Server, model: ScriptedModel
) -> None:
    assert server.get("cashcode/api/health")["llm_configured"] is True
    assert server.get("cashcode/api/sessions")["sessions"] == []
    assert server.get("cashcode/api/settings/llm")["configured"] is True
    address = server.facts["url"].replace("http", "ws", 1) + "cashcode/ws"
    headers = {"Authorization": f"token {server.facts['token']}"}
    with connect(address, additional_headers=headers) as socket:
        ready = json.loads(socket.recv())
        socket.send('{"type": "ping"}')
        assert json.loads(socket.recv())["event"] == "pong"
        assert model.visits == []
        content = directive(say="hello")
        socket.send(json.dumps({"type": "message", "chat_id": ready["chat_id"], "content": content}))
        while json.loads(socket.recv(timeout=20))["event"] != "done":
            pass
    assert server.stop()["connected"] == [["127.0.0.1", model.port]]


def test_an_idle_server_never_connects_anywhere(server: Server) -> None:
    assert server.facts["connected"] == []
    server.get("cashcode/api/health")
    assert server.stop()["connected"] == []


def test_jupyter_cashcode_serves_only_us(server: Server) -> None:
    assert server.facts["extensions"] == ["cashcode_jupyter"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        server.get("lab")
    server.stop()


def test_its_kernels_are_told_where_it_is_and_how_to_come_in(server: Server) -> None:
    told = server.facts["environment"]
    assert told["CASHCODE_SERVER_PID"] == str(server.facts["pid"])
    assert told["CASHCODE_SERVER_URL"] == server.facts["url"]
    address = told["CASHCODE_SERVER_URL"].replace("http", "ws", 1) + "cashcode/kernel"
    headers = {"X-CashCode-Token": told["CASHCODE_KERNEL_TOKEN"]}
    with connect(address, additional_headers=headers) as socket:
        assert json.loads(socket.recv())["event"] == "ready"
    assert server.stop()["left"] == []


class TestWithTheCompatibilityListener:
    @pytest.fixture
    def server_environment(self, server_environment: dict[str, str]) -> dict[str, str]:
        listener = {"CASHCODE_COMPAT_LISTENER": "yes", "WS_PORT": "0", "CASHCODE_HTTP_PORT": "0"}
        return server_environment | listener

    def test_it_is_open_when_the_server_has_started(self, server: Server) -> None:
        addresses = server.get("cashcode/api/health")["compat"]
        with urllib.request.urlopen(f"{addresses['http']}/health", timeout=20) as response:
            assert json.loads(response.read())["service"] == "cashcode"
        with connect(addresses["ws"]) as socket:
            assert json.loads(socket.recv())["event"] == "ready"
        server.stop()


def test_the_help_shows_every_setting_with_its_default(
    jp_environ: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        CashCodeExtension.launch_instance(["--help"])
    shown = capsys.readouterr().out
    for line in ("--data-dir", "--compat-listener", "CASHCODE_MAX_ITERATIONS", "Default: 25", "--port"):
        assert line in shown


def test_a_default_configuration_can_be_written(
    jp_environ: None, jp_config_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        CashCodeExtension.launch_instance(["--generate-config"])
    written = (jp_config_dir / "jupyter_cashcode_jupyter_config.py").read_text()
    assert "# c.CashCodeExtension.max_iterations = 25" in written
