"""Finding the Jupyter server that started this kernel, and no other.

The server's own word comes first (its process id, address and secret in the environment, set by our extension),
then the runtime file of the parent process. Other running servers are never asked: a question must not reach a
stranger's agent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KERNEL_SOCKET = "cashcode/kernel"


@dataclass(frozen=True)
class Server:
    """Where to reach the agent: base URL with its slash, the socket's path and what authenticates us."""

    url: str
    socket_path: str
    headers: dict[str, str] = field(repr=False)

    @property
    def answers_requests(self) -> bool:
        """Whether the socket takes the requests of panels: only the one that the kernel's own secret opens."""
        return self.socket_path == KERNEL_SOCKET

    @property
    def socket_url(self) -> str:
        return "ws" + self.url.removeprefix("http") + self.socket_path


def parent_pid(environ: Mapping[str, str] = os.environ) -> str | None:
    # On Windows the variable holds a handle, not a process id.
    if sys.platform == "win32":
        return str(os.getppid()) if environ.get("JPY_PARENT_PID") else None
    return environ.get("JPY_PARENT_PID") or None


def find_server(environ: Mapping[str, str] = os.environ) -> Server | None:
    """The parent server, None where there is none (nbclient, papermill, plain IPython). Opens no connection."""
    parent = parent_pid(environ)
    if parent is None or not parent.isdigit():
        return None
    url, secret = environ.get("CASHCODE_SERVER_URL", ""), environ.get("CASHCODE_KERNEL_TOKEN", "")
    # An inherited environment names a server that is not our parent: then the variables are stale.
    if environ.get("CASHCODE_SERVER_PID") == parent and _speaks_http(url) and secret:
        return Server(url.rstrip("/") + "/", KERNEL_SOCKET, {"X-CashCode-Token": secret})
    info = runtime_file(parent)
    if info is None:
        return None
    url, token = str(info.get("url") or ""), str(info.get("token") or "")
    if not _speaks_http(url) or not token:
        return None
    return Server(url.rstrip("/") + "/", "cashcode/ws", {"Authorization": f"token {token}"})


def rest_headers(server: Server) -> dict[str, str] | None:
    """What the REST routes accept from us: the token. The kernel's secret opens the socket only."""
    if "Authorization" in server.headers:
        return server.headers
    token = str((runtime_file(parent_pid() or "") or {}).get("token") or "")
    return {"Authorization": f"token {token}"} if token else None


def _speaks_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def runtime_file(pid: str) -> dict[str, object] | None:
    """What the server process wrote about itself, None when it wrote nothing readable."""
    from jupyter_core.paths import jupyter_runtime_dir

    try:
        info = json.loads((Path(jupyter_runtime_dir()) / f"jpserver-{pid}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return info if isinstance(info, dict) and str(info.get("pid", pid)) == pid else None
