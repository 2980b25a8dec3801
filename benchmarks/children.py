"""Child processes of a benchmark: started in folders of their own, ended by their pid, what they say kept."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")
START_SECONDS = 60.0
STOP_SECONDS = 10.0
CLEARED = (
    "CASHCODE_",
    "PYTEST_",
    "JUPYTER",
    "JPY_",
    "IPYTHONDIR",
    "WORKSPACE_DIR",
    "WS_PORT",
    "DEEPSEEK_",
    "OPENAI_",
)


@dataclass(frozen=True)
class Home:
    """Every folder that CashCode, Jupyter and IPython would use, below one temporary one."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def jupyter_config(self) -> Path:
        return self.root / "jupyter-config"

    def make(self, model_url: str) -> Home:
        """Create the folders, with the model at `model_url` as the default one."""
        self.workspace.mkdir(parents=True)
        self.jupyter_config.mkdir()
        settings = self.config / "settings" / "llm.json"
        settings.parent.mkdir(parents=True, mode=0o700)
        value = {
            "version": 2,
            "openai_compatible": {"base_url": model_url, "api_key": ""},
            "ollama": {"base_url": ""},
            "default": {"provider": "openai_compatible", "model": "mock"},
        }
        settings.write_text(json.dumps(value))
        settings.chmod(0o600)
        return self

    def environment(self) -> dict[str, str]:
        """The environment of a child: nothing of the user's settings is left in it."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(CLEARED)}
        return kept | {
            "CASHCODE_DATA_DIR": str(self.data),
            "CASHCODE_CONFIG_DIR": str(self.config),
            "JUPYTER_CONFIG_DIR": str(self.jupyter_config),
            "JUPYTER_DATA_DIR": str(self.root / "jupyter-data"),
            "JUPYTER_RUNTIME_DIR": str(self.root / "jupyter-runtime"),
            "IPYTHONDIR": str(self.root / "ipython"),
            "PYTHONPATH": str(Path(__file__).parent.parent),
        }


@contextmanager
def child(command: list[str], env: Mapping[str, str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block; what it prints goes to `output`."""
    with output.open("wb") as log:
        process = subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(process: subprocess.Popen[bytes], output: Path, look: Callable[[], Found | None]) -> Found:
    """What `look` finds, asked again and again; raises RuntimeError with the child's words when it never does."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.003)
    said = output.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{process.args!r} did not start:\n{said}")
