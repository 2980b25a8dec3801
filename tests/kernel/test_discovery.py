from __future__ import annotations

import json
from pathlib import Path

import pytest

from cashcode_jupyter.kernel.discovery import Server, find_server, rest_headers

SECRET = {
    "JPY_PARENT_PID": "77",
    "CASHCODE_SERVER_PID": "77",
    "CASHCODE_SERVER_URL": "http://127.0.0.1:8888/sub/",
    "CASHCODE_KERNEL_TOKEN": "secret",
}


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def write(folder: Path, pid: int, **facts: object) -> None:
    info = {"pid": pid, "url": f"http://localhost:{9000 + pid}/", "token": f"token-{pid}"} | facts
    (folder / f"jpserver-{pid}.json").write_text(json.dumps(info))


def test_the_parents_secret_opens_the_kernel_socket(runtime: Path):
    server = find_server(SECRET)
    assert server is not None
    assert server.socket_url == "ws://127.0.0.1:8888/sub/cashcode/kernel"
    assert server.headers == {"X-CashCode-Token": "secret"}


def test_variables_inherited_from_another_server_are_not_used(runtime: Path):
    assert find_server(SECRET | {"JPY_PARENT_PID": "78"}) is None


def test_the_parents_runtime_file_gives_address_and_token(runtime: Path):
    write(runtime, 77, url="https://localhost:9443/user/bob/")
    server = find_server({"JPY_PARENT_PID": "77"})
    assert server is not None
    assert server.socket_url == "wss://localhost:9443/user/bob/cashcode/ws"
    assert server.headers == {"Authorization": "token token-77"}


def test_other_running_servers_are_never_chosen(runtime: Path):
    write(runtime, 1)
    write(runtime, 2)
    assert find_server({"JPY_PARENT_PID": "3"}) is None
    assert find_server({}) is None


@pytest.mark.parametrize(
    "facts",
    [{"token": ""}, {"url": ""}, {"url": "http+unix://socket"}, {"pid": 5}],
    ids=["no token", "no url", "unix socket", "another pid"],
)
def test_a_runtime_file_that_cannot_be_used_counts_as_none(runtime: Path, facts: dict[str, object]):
    write(runtime, 77)
    path = runtime / "jpserver-77.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))
    assert find_server({"JPY_PARENT_PID": "77"}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "\0"])
def test_a_broken_runtime_file_counts_as_none(runtime: Path, text: str):
    (runtime / "jpserver-77.json").write_text(text)
    assert find_server({"JPY_PARENT_PID": "77"}) is None


def test_a_parent_pid_that_is_no_number_names_no_file(runtime: Path):
    write(runtime, 77)
    assert find_server({"JPY_PARENT_PID": "../jpserver-77"}) is None


def test_the_secret_does_not_show_in_the_repr():
    assert "secret" not in repr(Server("http://x/", "cashcode/kernel", {"X-CashCode-Token": "secret"}))


def test_rest_routes_get_the_token_and_never_the_secret(runtime: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JPY_PARENT_PID", "77")
    server = find_server(SECRET)
    assert server is not None
    assert rest_headers(server) is None
    write(runtime, 77)
    assert rest_headers(server) == {"Authorization": "token token-77"}
