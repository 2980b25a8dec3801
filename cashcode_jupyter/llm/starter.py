"""The `starter` provider: a small local model, served by a child process that starts with its first use.

One child a process: a Jupyter server and a kernel with an embedded core may each run one. The loopback server
wants `api_key`, which only this process and its child know.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
from pathlib import Path

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm import starter_files
from cashcode_jupyter.llm.starter_files import StarterFile
from cashcode_jupyter.llm.starter_server import StarterServer, missing_runtime
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import LlmNotConfigured, LlmServer

CONTEXT_SIZES = (8192, 4096, 2048)
TINY_CONTEXT = 4096  # the tiny model loses the thread long before, and its prompt is short
UNKNOWN_KV_BYTES = 128 * 1024
__all__ = ["StarterFile", "StarterModels"]


class StarterModels:
    """Which local model there is, and the server for it. Whoever makes one calls `aclose`."""

    def __init__(self, paths: Paths) -> None:
        self._models = paths.models
        self.api_key = secrets.token_urlsafe(32)
        self._server: StarterServer | None = None
        self._starting: asyncio.Task[StarterServer] | None = None
        self._closed = False

    def registered(self) -> StarterFile | None:
        """The model that `cashcode starter` fetched or registered, or None."""
        return starter_files.registered(self._models)

    def register(self, path: Path) -> StarterFile:
        """Serve the GGUF file at `path` from now on; `BadSetting` when it is none."""
        return starter_files.register(self._models, path)

    @property
    def available(self) -> bool:
        """Whether the runtime (xllamacpp) is installed; it is not imported for the answer."""
        return importlib.util.find_spec("xllamacpp") is not None

    @property
    def n_ctx(self) -> int | None:
        """Tokens of context that the model is (to be) served with; None without a model."""
        if self._server and self._server.alive():
            return self._server.n_ctx
        file = self.registered()
        return context_size(file, available_memory()) if file else None

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._server.pid if self._server and self._server.alive() else None

    def log_tail(self) -> list[str]:
        """The last lines the server printed."""
        return self._server.log_tail() if self._server else []

    async def endpoint(self) -> str:
        """The base URL (`…/v1`) of the running server, started when it does not run or another model is wanted.

        Callers at the same time share one start. `LlmNotConfigured` without a model, `LlmUnreachable` without
        xllamacpp, `LlmServer` when the server does not start.
        """
        file = await asyncio.to_thread(self.registered)
        if file is None:
            raise LlmNotConfigured(
                _("There is no local model yet. Run: cashcode starter (98 MB), or: cashcode starter PATH.gguf")
            )
        while True:
            if self._closed:
                raise LlmServer(_("The local model was stopped."))
            if self._starting is None:
                if self._server and self._server.file == file and self._server.alive():
                    return self._server.address + "/v1"
                self._starting = asyncio.create_task(self._start(file), name="cashcode-starter")
                self._starting.add_done_callback(self._started)
            server = await asyncio.shield(self._starting)
            if server.file == file:
                return server.address + "/v1"

    async def _start(self, file: StarterFile) -> StarterServer:
        if not self.available:
            raise missing_runtime()
        if self._server:
            await asyncio.to_thread(self._server.stop)
        n_ctx = context_size(file, available_memory())
        server = self._server = StarterServer(file, n_ctx=n_ctx, api_key=self.api_key)
        await asyncio.to_thread(server.start)
        return server

    def _started(self, task: asyncio.Task[StarterServer]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # seen here too: every caller may have been cancelled meanwhile

    async def aclose(self) -> None:
        """End the child, within two seconds, also while it starts."""
        self._closed = True
        if self._server:
            await asyncio.to_thread(self._server.stop)
        if self._starting:
            await asyncio.wait([self._starting])


def context_size(file: StarterFile, memory: int | None) -> int:
    """The largest context that the model knows and whose keys and values take at most an eighth of `memory`.

    8192 tokens hold our prompt and a conversation; what is trained for less gets less. `memory` is in bytes.
    """
    trained = min(file.context_length or CONTEXT_SIZES[0], TINY_CONTEXT if file.tiny else CONTEXT_SIZES[0])
    budget = (memory or 0) // 8
    for size in CONTEXT_SIZES:
        if memory is None or size * (file.kv_bytes or UNKNOWN_KV_BYTES) <= budget:
            return min(size, trained)
    return min(CONTEXT_SIZES[-1], trained)


def available_memory() -> int | None:
    """Bytes that a new process may take (Linux, with the limit of its container); None where nobody says."""
    found = [_meminfo(), _container_limit()]
    return min((number for number in found if number is not None), default=None)


def _meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return _physical()
    return _physical()


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _container_limit() -> int | None:
    try:  # half of it: what the container's other processes hold is not worth a look
        return int(Path("/sys/fs/cgroup/memory.max").read_text()) // 2
    except (OSError, ValueError):  # no limit is the word "max"
        return None
