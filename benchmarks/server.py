"""A real `jupyter server` as a child process, with our extension or without it."""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.children import Home, child, until

TOKEN = "benchmark"
EXTENSION = "cashcode_jupyter"


@dataclass(frozen=True)
class Server:
    """`start_seconds` is the time from its launch to the first answer of `/api/status`."""

    url: str
    pid: int
    start_seconds: float

    @property
    def socket_url(self) -> str:
        return f"ws{self.url.removeprefix('http')}cashcode/ws?token={TOKEN}"

    def get(self, path: str) -> Any:
        return _fetch(f"{self.url}{path}")


def _fetch(url: str) -> Any:
    request = urllib.request.Request(url, headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def _only(home: Home, *, extension: bool) -> None:
    """Switch off every extension of this environment but ours, which is on or off."""
    from jupyter_core.paths import jupyter_config_path

    found: dict[str, bool] = {}
    for folder in jupyter_config_path():
        for file in sorted(home.root.joinpath(folder, "jupyter_server_config.d").glob("*.json")):
            listed = json.loads(file.read_text()).get("ServerApp", {}).get("jpserver_extensions", {})
            found |= dict.fromkeys(listed, False)
    config = {"ServerApp": {"jpserver_extensions": found | {EXTENSION: extension}}}
    (home.jupyter_config / "jupyter_server_config.json").write_text(json.dumps(config))


@contextmanager
def jupyter_server(home: Home, *, extension: bool = True) -> Iterator[Server]:
    """A server on a free port of this machine, for the folders of `home`; it ends with the block."""
    _only(home, extension=extension)
    output = home.root / "server.log"
    command = [sys.executable, "-m", "jupyter_server", "--ServerApp.port=0", "--ServerApp.open_browser=False"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={home.workspace}", "--allow-root"]
    started = time.monotonic()
    with child(command, home.environment(), output) as process:
        runtime = home.root / "jupyter-runtime" / f"jpserver-{process.pid}.json"

        def status() -> str | None:
            try:
                url = json.loads(runtime.read_text())["url"]
                _fetch(f"{url}api/status")
            except (OSError, ValueError, urllib.error.URLError):
                return None
            return url

        url = until(process, output, status)
        yield Server(url, process.pid, time.monotonic() - started)
