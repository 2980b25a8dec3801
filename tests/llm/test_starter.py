from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cashcode_jupyter.llm.starter import StarterModels, context_size
from cashcode_jupyter.llm.starter_files import StarterFile
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import LlmNotConfigured, LlmServer, LlmUnreachable

from .gguf_files import write
from .starter_model import starter_data


@pytest.fixture(scope="module")
def data(request: pytest.FixtureRequest) -> Path:
    return starter_data(request)


@pytest.fixture
async def starter(data: Path) -> AsyncIterator[StarterModels]:
    models = StarterModels(Paths(data, data))
    yield models
    await models.aclose()


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[StarterModels]:
    """Of an empty data dir."""
    models = StarterModels(Paths(tmp_path / "data", tmp_path))
    yield models
    await models.aclose()


def call(url: str, body: dict[str, Any] | None = None, key: str = "") -> tuple[int, Any]:
    data = json.dumps(body).encode() if body else None
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def ended(pid: int, seconds: float = 10) -> bool:
    """Whether the process `pid` has ended, waiting for it; it need not be a child of ours."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watch], [], [], seconds)[0])
    finally:
        os.close(watch)


async def test_the_real_model_knows_the_capital_of_france(starter: StarterModels) -> None:
    file = starter.registered()
    assert file is not None
    base = await starter.endpoint()
    body = {
        "model": file.model,
        "messages": [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
        "temperature": 0,
        "max_tokens": 40,
    }
    status, answer = await asyncio.to_thread(call, f"{base}/chat/completions", body, starter.api_key)
    assert status == 200
    assert "Paris" in answer["choices"][0]["message"]["content"]


async def test_the_server_is_on_loopback_and_serves_the_model_with_the_promised_context(
    starter: StarterModels,
) -> None:
    base = await starter.endpoint()
    assert base.startswith("http://127.0.0.1:") and base.endswith("/v1")
    _status, models = await asyncio.to_thread(call, f"{base}/models", None, starter.api_key)
    assert models["data"][0]["id"] == "SmolLM2-135M-Instruct.Q4_1"
    assert models["data"][0]["meta"]["n_ctx"] == starter.n_ctx


async def test_nobody_without_the_key_may_use_the_server(starter: StarterModels) -> None:
    base = await starter.endpoint()
    for path, body in (("models", None), ("chat/completions", {"messages": [{"role": "user", "content": "x"}]})):
        status, _answer = await asyncio.to_thread(call, f"{base}/{path}", body, "a guess")
        assert status == 401


async def test_callers_at_the_same_time_share_one_start(starter: StarterModels) -> None:
    addresses = await asyncio.gather(*(starter.endpoint() for _nothing in range(5)))
    assert len(set(addresses)) == 1


async def test_a_caller_that_gives_up_does_not_stop_the_start_for_others(starter: StarterModels) -> None:
    first = asyncio.create_task(starter.endpoint())
    second = asyncio.create_task(starter.endpoint())
    await asyncio.sleep(0)  # both wait for the start now
    first.cancel()
    assert (await second).endswith("/v1")
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_server_that_died_is_started_again_and_leaves_no_zombie(starter: StarterModels) -> None:
    await starter.endpoint()
    pid = starter.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert await asyncio.to_thread(ended, pid)
    base = await starter.endpoint()
    assert starter.pid not in (None, pid)
    assert (await asyncio.to_thread(call, f"{base}/models", None, starter.api_key))[0] == 200
    assert not Path(f"/proc/{pid}").exists()


async def test_closing_ends_the_server_within_two_seconds_and_for_good(starter: StarterModels) -> None:
    await starter.endpoint()
    pid, begin = starter.pid, time.monotonic()
    assert pid is not None
    await starter.aclose()
    assert time.monotonic() - begin < 2
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(LlmServer):
        await starter.endpoint()


async def test_closing_while_the_server_starts_ends_it_too(starter: StarterModels) -> None:
    caller = asyncio.create_task(starter.endpoint())
    while starter.pid is None:  # noqa: ASYNC110 (the child is there before its model is loaded)
        await asyncio.sleep(0.001)
    pid = starter.pid
    await starter.aclose()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(LlmServer):
        await caller


async def test_closing_ends_a_server_that_hangs(starter: StarterModels) -> None:
    await starter.endpoint()
    pid = starter.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    await starter.aclose()
    assert not Path(f"/proc/{pid}").exists()


async def test_another_registered_model_is_served_from_the_next_request_on(
    data: Path, other: StarterModels, tmp_path: Path
) -> None:
    source = StarterModels(Paths(data, data)).registered()
    assert source is not None
    names = []
    for name in ("one.gguf", "two.gguf"):
        (tmp_path / name).symlink_to(source.path)
        other.register(tmp_path / name)
        base = await other.endpoint()
        answer = await asyncio.to_thread(call, f"{base}/models", None, other.api_key)
        names.append(answer[1]["data"][0]["id"])
    assert names == ["one", "two"]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_its_owner_however_that_ends(data: Path, end: signal.Signals) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from cashcode_jupyter.paths import Paths\n"
        "from cashcode_jupyter.llm.starter import StarterModels\n"
        "async def main():\n"
        "    models = StarterModels(Paths(Path(sys.argv[1]), Path(sys.argv[1])))\n"
        "    await models.endpoint(); print(models.pid, flush=True); await asyncio.Event().wait()\n"
        "asyncio.run(main())"
    )
    owner = subprocess.Popen([sys.executable, "-c", program, str(data)], stdout=subprocess.PIPE)
    try:
        assert owner.stdout
        pid = int(owner.stdout.readline())
        owner.send_signal(end)
        assert ended(pid)
    finally:
        owner.kill()
        owner.communicate()


def test_the_program_itself_ends_with_its_standard_input(data: Path) -> None:
    file = StarterModels(Paths(data, data)).registered()
    assert file is not None
    wanted = {"model": str(file.path), "name": "m", "n_ctx": 512, "api_key": "k", "owner": os.getpid()}
    wanted["temperature"] = None
    child = subprocess.Popen(
        [sys.executable, "-m", "cashcode_jupyter.llm.starter_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert child.stdin and child.stdout
        child.stdin.write(json.dumps(wanted).encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["address"].startswith("http://127.0.0.1:")
        assert child.stdout.read() == b""  # one line and no other
        child.send_signal(signal.SIGINT)  # Ctrl-C is the owner's business
        child.stdin.close()
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()


async def test_without_a_model_the_way_to_one_is_named(other: StarterModels) -> None:
    assert other.n_ctx is None
    with pytest.raises(LlmNotConfigured, match="cashcode starter"):
        await other.endpoint()


async def test_without_xllamacpp_the_pip_line_is_named(
    other: StarterModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.register(write(tmp_path / "m.gguf"))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # what Python itself does for "there is none"
    assert not other.available
    with pytest.raises(LlmUnreachable, match=r'pip install "cashcode-jupyter\[local\]"'):
        await other.endpoint()


async def test_a_file_that_llama_cannot_load_is_an_error_and_the_next_call_tries_again(
    other: StarterModels, tmp_path: Path
) -> None:
    other.register(write(tmp_path / "m.gguf"))  # a legal head, but no model
    for _nothing in range(2):
        with pytest.raises(LlmServer, match="could not be loaded") as caught:
            await other.endpoint()
        assert str(tmp_path) not in caught.value.detail
    assert other.pid is None
    assert any("error" in line.lower() for line in other.log_tail())


def file_of(context_length: int | None, kv_bytes: int | None) -> StarterFile:
    return StarterFile(Path("m.gguf"), "m", "file", None, 1, context_length, kv_bytes, False)


@pytest.mark.parametrize(
    ("trained", "kv_bytes", "memory", "size"),
    [
        (8192, 23_040, 20 << 30, 8192),
        (8192, 23_040, 1 << 30, 4096),
        (8192, 23_040, 1 << 20, 2048),
        (8192, 23_040, None, 8192),
        (512, 23_040, 20 << 30, 512),
        (131_072, 131_072, 24 << 30, 8192),
        (None, None, 4 << 30, 4096),
    ],
)
def test_the_context_is_what_the_model_knows_and_the_memory_allows(
    trained: int | None, kv_bytes: int | None, memory: int | None, size: int
) -> None:
    assert context_size(file_of(trained, kv_bytes), memory) == size


def test_the_tiny_model_gets_a_small_context() -> None:
    tiny = replace(file_of(8192, 23_040), tiny=True)
    assert context_size(tiny, 20 << 30) == 4096


def test_importing_the_starter_loads_no_runtime() -> None:
    program = "import sys, cashcode_jupyter.llm.starter; print('xllamacpp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
