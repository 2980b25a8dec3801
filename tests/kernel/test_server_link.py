"""Kernels and real Jupyter servers: which one a kernel talks to, and what happens when it goes away."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.model import ScriptedModel
from tests.kernel.conftest import SECONDS, Kernel, Ran, StartKernel, clean_environment

TOKEN = "token-of-this-test"


class Jupyter:
    """A Jupyter server in a process of its own, with our extension and data folders of its own."""

    def __init__(self, folder: Path, config: Path, *flags: str) -> None:
        self.runtime, self.data = folder / "runtime", folder / "data"
        root = folder / "root"
        for path in (self.runtime, self.data, root):
            path.mkdir(parents=True)
        environ = clean_environment(
            CASHCODE_DATA_DIR=str(self.data),
            CASHCODE_CONFIG_DIR=str(config),
            JUPYTER_RUNTIME_DIR=str(self.runtime),
            JUPYTER_CONFIG_DIR=str(folder / "config"),
            JUPYTER_DATA_DIR=str(folder / "jupyter-data"),
            IPYTHONDIR=str(folder / "ipython"),
        )
        command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
        command += ["--ServerApp.port=0", f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={TOKEN}"]
        command += ["--ServerApp.jpserver_extensions=cashcode_jupyter=True", *flags]
        self.log = (folder / "server.log").open("w")
        self.process = subprocess.Popen(command, env=environ, stdout=self.log, stderr=self.log)
        self.info = self._started(folder / "server.log")

    def _started(self, log: Path) -> dict[str, Any]:
        path = self.runtime / f"jpserver-{self.process.pid}.json"
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(OSError, ValueError):
                info = json.loads(path.read_text())
                urllib.request.urlopen(f"{info['url']}api", timeout=5).close()
                return info
            time.sleep(0.05)
        raise AssertionError(log.read_text())

    def request(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self.info["url"] + path, data, {"Authorization": f"token {TOKEN}"}, method=method
        )
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def kernel(self, notebook: str = "a.ipynb") -> Kernel:
        """A kernel that this server starts, as for a notebook that is opened."""
        session = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        kernel_id = self.request("POST", "api/sessions", session)["kernel"]["id"]
        client = BlockingKernelClient(connection_file=str(self.runtime / f"kernel-{kernel_id}.json"))
        client.load_connection_file()
        kernel = Kernel(client)
        assert not kernel.run("%load_ext cashcode_jupyter").of("error")
        return kernel

    def interrupt(self, notebook: str) -> None:
        for session in self.request("GET", "api/sessions"):
            if session["path"] == notebook:
                self.request("POST", f"api/kernels/{session['kernel']['id']}/interrupt", {})

    def end_kernels(self) -> None:
        for session in self.request("GET", "api/sessions"):
            self.request("DELETE", f"api/sessions/{session['id']}")

    def chats(self) -> list[str]:
        return [row["chat_id"] for row in self.request("GET", "cashcode/api/sessions")["sessions"]]

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(15)
        self.log.close()


StartServer = Callable[..., Jupyter]


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    """The model of the servers."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture(scope="module")
def start_server(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    servers: list[Jupyter] = []
    config = tmp_path_factory.mktemp("config")
    (config / "settings").mkdir(mode=0o700)
    profile = {"base_url": model.url, "api_key": ""}
    default = {"provider": "openai_compatible", "model": "mock"}
    stored = {"version": 2, "openai_compatible": profile, "ollama": {"base_url": ""}, "default": default}
    (config / "settings" / "llm.json").write_text(json.dumps(stored))

    def start(*flags: str) -> Jupyter:
        server = Jupyter(tmp_path_factory.mktemp("server"), config, *flags)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def server(start_server: StartServer) -> Jupyter:
    """The server of the tests that leave it as it is."""
    return start_server()


def test_a_cell_talks_to_the_server_that_started_its_kernel(server: Jupyter, start_server: StartServer):
    other = start_server("--ServerApp.base_url=/sub/")
    ran = other.kernel().run("%%cashcode --chat mine\n" + directive(say="From the other."))
    assert ran.shown["text/plain"] == "From the other."
    assert ran.kinds[0] == "stream"
    assert other.chats() == ["mine"]
    assert "mine" not in server.chats()


def test_the_notebooks_chat_is_the_same_in_its_next_kernel(server: Jupyter, model: ScriptedModel):
    kernel = server.kernel("deep.ipynb")
    kernel.run("%%cashcode\n" + directive(say="I know it now."))
    name = kernel.run("%cashcode chat").streamed.strip()
    assert name.startswith("deep-")
    server.end_kernels()
    again = server.kernel("deep.ipynb")
    assert again.run("%cashcode chat").streamed.strip() == name
    again.run("%%cashcode\nand now?")
    assert model.requests[-1].body["messages"][2]["content"] == "I know it now."


def test_without_a_readable_token_the_kernel_chats_by_its_secret(start_server: StartServer):
    server = start_server()
    kernel = server.kernel()
    (server.runtime / f"jpserver-{server.process.pid}.json").unlink()
    assert kernel.run("%%cashcode\n" + directive(say="Hello.")).shown["text/plain"] == "Hello."
    assert "no token" in kernel.run("%cashcode chats").error["evalue"]


def test_the_lists_come_from_the_server(server: Jupyter):
    kernel = server.kernel("lists.ipynb")
    kernel.run("%%cashcode --chat sales\nHow were the sales?")
    assert f"the agent of http://127.0.0.1:{server.info['port']}/" in kernel.run("%cashcode").streamed
    assert "How were the sales?" in kernel.run("%cashcode chats").streamed
    assert "openai_compatible:mock" in kernel.run("%cashcode model").streamed
    assert "Nothing is remembered" in kernel.run("%cashcode memory").streamed


def test_a_cell_of_a_megabyte_reaches_the_model_through_the_server(server: Jupyter, model: ScriptedModel):
    body = '{x} $y "quoted"\n' * (1 << 16) + "end  "
    ran = server.kernel("big.ipynb").run(f"%%cashcode\n{body}")
    assert not ran.of("error"), ran.error
    assert model.requests[-1].body["messages"][-1]["content"] == body


def test_a_cell_that_is_too_large_for_the_server_says_so(server: Jupyter):
    ran = server.kernel("huge.ipynb").run("%%cashcode\n" + "x" * (9 << 20))
    assert "too large" in ran.error["evalue"]


def test_an_interrupt_stops_the_turn_at_the_server(server: Jupyter, model: ScriptedModel):
    kernel = server.kernel("stopped.ipynb")
    kernel.run("%%cashcode\nwarm up")
    model.clear()
    msg_id = kernel.send("%%cashcode\n" + directive(first_ms=20_000))
    assert model.wait_for(lambda model: bool(model.requests))
    started = time.monotonic()
    server.interrupt("stopped.ipynb")
    ran = kernel.collect(msg_id)
    assert ran.times[-1] - started < 0.4
    assert ran.error["ename"] == "KeyboardInterrupt"
    assert model.wait_for(lambda model: model.aborted == 1)


def test_a_chat_that_is_busy_elsewhere_answers_each_its_own_question(server: Jupyter, model: ScriptedModel):
    first, second = server.kernel("one.ipynb"), server.kernel("two.ipynb")
    second.run("%%cashcode\nwarm up")
    model.clear()
    long = first.send("%%cashcode --chat shared\n" + directive(say="To the first.", first_ms=1500))
    assert model.wait_for(lambda model: bool(model.requests))
    ran = second.run("%%cashcode --chat shared\n" + directive(say="To the second."))
    assert "waiting" in ran.streamed
    assert ran.shown["text/plain"] == "To the second."
    assert first.collect(long).shown["text/plain"] == "To the first."


def test_an_interrupt_of_a_waiting_question_leaves_the_running_turn_alone(server: Jupyter, model: ScriptedModel):
    first, second = server.kernel("three.ipynb"), server.kernel("four.ipynb")
    second.run("%%cashcode\nwarm up")
    model.clear()
    long = first.send("%%cashcode --chat shared\n" + directive(say="To the first.", first_ms=1500))
    assert model.wait_for(lambda model: bool(model.requests))
    waiting = second.send("%%cashcode --chat shared\n" + directive(say="To the second."))
    ran = second.collect(waiting, until=lambda ran: "waiting" in ran.streamed)
    server.interrupt("four.ipynb")
    ran = second.collect(waiting, into=ran)
    assert "still waits" in ran.shown["text/plain"]
    assert first.collect(long).shown["text/plain"] == "To the first."


def write_runtime_file(folder: Path, url: str, token: str = TOKEN) -> None:
    """The runtime file of the process that starts the kernel here: this one."""
    folder.mkdir(exist_ok=True)
    info = {"pid": os.getpid(), "url": url, "token": token}
    (folder / f"jpserver-{os.getpid()}.json").write_text(json.dumps(info))


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken and refuses connections."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_a_stale_runtime_file_is_said_and_the_agent_runs_in_the_kernel(
    start_kernel: StartKernel, tmp_path: Path, closed_port: int
):
    write_runtime_file(tmp_path / "runtime", f"http://127.0.0.1:{closed_port}/")
    kernel = start_kernel()
    ran = kernel.run("%%cashcode\n" + directive(say="From the kernel."))
    assert "cannot be used" in ran.shown["text/plain"]
    assert f":{closed_port}/" in ran.shown["text/plain"]
    assert ran.shown["text/plain"].endswith("From the kernel.")
    assert kernel.run("%%cashcode\n" + directive(say="Again.")).shown["text/plain"] == "Again."


def test_ask_warns_about_a_stale_runtime_file(start_kernel: StartKernel, tmp_path: Path, closed_port: int):
    write_runtime_file(tmp_path / "runtime", f"http://127.0.0.1:{closed_port}/")
    ran = start_kernel().run("import cashcode_jupyter\ncashcode_jupyter.ask('hello').text")
    assert ran.of("execute_result")
    assert "cannot be used" in ran.streamed


def test_a_server_without_the_extension_is_said(
    start_kernel: StartKernel, start_server: StartServer, tmp_path: Path
):
    server = start_server("--ServerApp.jpserver_extensions=cashcode_jupyter=False")
    write_runtime_file(tmp_path / "runtime", server.info["url"])
    ran = start_kernel().run("%%cashcode\n" + directive(say="From the kernel."))
    assert "without the CashCode extension" in ran.shown["text/plain"]


def test_a_wrong_token_is_said(start_kernel: StartKernel, server: Jupyter, tmp_path: Path):
    write_runtime_file(tmp_path / "runtime", server.info["url"], token="wrong")
    ran = start_kernel().run("%%cashcode\n" + directive(say="From the kernel."))
    assert "credentials" in ran.shown["text/plain"]


class Cable:
    """A TCP relay in front of a server that can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.connections = 0
        ready = threading.Event()
        self._thread = threading.Thread(target=self._main, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()

    def _main(self, ready: threading.Event) -> None:
        async def listen() -> None:
            server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self._loop.run_until_complete(listen())
        self._loop.run_forever()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, far_writer}

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while data := await source.read(65536):
                    target.write(data)
                    await target.drain()
            target.close()

        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))

    def plug(self, port: int) -> None:
        """New connections go to that port."""
        self._port = port

    def cut(self) -> None:
        def abort() -> None:
            for writer in self._writers:
                writer.transport.abort()
            self._writers.clear()

        self._loop.call_soon_threadsafe(abort)

    def close(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def cabled(
    start_server: StartServer, start_kernel: StartKernel, tmp_path: Path
) -> Iterator[tuple[Cable, Kernel, Jupyter]]:
    server = start_server()
    cable = Cable(server.info["port"])
    write_runtime_file(tmp_path / "runtime", f"http://127.0.0.1:{cable.port}/")
    yield cable, start_kernel(), server
    cable.close()


def test_nothing_is_lost_or_doubled_when_the_connection_breaks(cabled: tuple[Cable, Kernel, Jupyter]):
    cable, kernel, _server = cabled
    kernel.run("%%cashcode\nwarm up")
    before = cable.connections
    msg_id = kernel.send("%%cashcode\n" + directive(chunks=80, size=6, delay_ms=25))
    ran = Ran()
    for length in (60, 200, 320):
        ran = kernel.collect(msg_id, until=lambda ran, length=length: len(ran.streamed) > length, into=ran)
        cable.cut()
    ran = kernel.collect(msg_id, into=ran)
    assert not ran.of("error"), ran.error
    assert len(ran.shown["text/plain"]) == 480
    assert ran.streamed == ran.shown["text/plain"]
    assert cable.connections - before == 4


def test_a_server_that_dies_in_a_turn_is_said_and_what_was_streamed_stays(cabled: tuple[Cable, Kernel, Jupyter]):
    _cable, kernel, server = cabled
    msg_id = kernel.send("%%cashcode\n" + directive(chunks=2000, size=6, delay_ms=20))
    ran = kernel.collect(msg_id, until=lambda ran: len(ran.streamed) > 60)
    server.process.kill()
    server.process.wait()
    ran = kernel.collect(msg_id, into=ran)
    assert "does not answer any more" in ran.error["evalue"]
    assert ran.shown["text/plain"].startswith(ran.streamed[:60])
