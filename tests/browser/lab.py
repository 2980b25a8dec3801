"""The processes a browser test needs: the scripted model, and a JupyterLab with folders of its own.

Everything is started here and ended by its process id; nothing is read from or written to the person's folders.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import nbformat

import cashcode_jupyter

TOKEN = "tok"
BUILT = Path(cashcode_jupyter.__file__).parent / "labextension"
START_SECONDS = 60.0
NEWS = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
THEMES = "@jupyterlab/apputils-extension/themes.jupyterlab-settings"
TRANSLATION = "@jupyterlab/translation-extension/plugin.jupyterlab-settings"
LANGUAGES = {"en": "default", "zh-CN": "zh_CN"}


class Process:
    """A child process whose output goes to a file."""

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str], cwd: Path) -> None:
        self._file: IO[bytes] = log.open("ab")
        self.popen = subprocess.Popen(
            command, stdout=self._file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=dict(env), cwd=cwd
        )

    def end(self, *, kill: bool = False) -> None:
        if self.popen.poll() is None:
            self.popen.kill() if kill else self.popen.terminate()
        try:
            self.popen.wait(20)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self._file.close()


def clean_environment(home: Path) -> dict[str, str]:
    """Without what pytest, a developer or the surrounding Jupyter have set, and with folders below `home`."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "CASHCODE_", "JUPYTER", "JPY_", "DEEPSEEK_API_", "OPENAI_"))
    }
    folders = {
        "HOME": "home",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "jupyter",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "CASHCODE_DATA_DIR": "data",
        "CASHCODE_CONFIG_DIR": "private",
    }
    for name, folder in folders.items():
        (home / folder).mkdir(exist_ok=True, mode=0o700)
        env[name] = str(home / folder)
    return env | {"CASHCODE_LANG": "en", "LC_ALL": "C.UTF-8"}


class Model:
    """The scripted model as a process. `answers` are its rules from words of a question to an answer."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="cashcode-model-"))
        rules, log = self._home / "answers.json", self._home / "log"
        rules.write_text(json.dumps(answers), encoding="utf-8")
        command = [sys.executable, "-m", "cashcode_jupyter.testing", "--port", "0", "--answers", str(rules)]
        self._process = Process(command, log, clean_environment(self._home), self._home)
        self.port = self._wait_for_port(log)

    def _wait_for_port(self, log: Path) -> int:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            words = log.read_text().split()
            if len(words) >= 2 and words[0] == "READY":
                return int(words[1])
            if self._process.popen.poll() is not None:
                break
            time.sleep(0.02)
        self.end()
        raise RuntimeError(f"the scripted model did not start: {log.read_text()[-2000:]}")

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def requests(self) -> list[dict[str, Any]]:
        """A summary of each completion request since the start."""
        with urllib.request.urlopen(f"{self.origin}/mock/log", timeout=10) as answer:
            return json.load(answer)

    def end(self) -> None:
        self._process.end()
        shutil.rmtree(self._home, ignore_errors=True)


class Lab:
    """One JupyterLab. `model` is the default model of its settings; without one nothing is configured.

    `base_url` is what JupyterHub gives, where `@` stays as it is.
    """

    def __init__(
        self, model: Model | None, *, base_url: str = "/", environment: Mapping[str, str] | None = None
    ) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cashcode-lab-"))
        self.work = self.home / "work"
        self.work.mkdir()
        self.base_url = base_url
        with socket.socket() as chooser:
            chooser.bind(("127.0.0.1", 0))
            self.port = chooser.getsockname()[1]
        self._env = clean_environment(self.home) | dict(environment or {})
        self._process: Process | None = None
        self.setting(NEWS, {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True})
        if model is not None:
            self.configure(model)

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{quote(self.base_url, safe='/@')}"

    def configure(self, model: Model) -> None:
        settings = self.home / "private" / "settings" / "llm.json"
        settings.parent.mkdir(exist_ok=True, mode=0o700)
        stored = {
            "version": 2,
            "openai_compatible": {"base_url": model.url, "api_key": ""},
            "ollama": {"base_url": ""},
            "default": {"provider": "openai_compatible", "model": "mock"},
        }
        settings.write_text(json.dumps(stored), encoding="utf-8")
        settings.chmod(0o600)

    def setting(self, name: str, value: Mapping[str, Any]) -> None:
        """One settings file of JupyterLab, read at the next load of the page."""
        path = self.home / "settings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")

    def look(self, *, theme: str = "JupyterLab Light", language: str = "en") -> None:
        """Without a language pack JupyterLab keeps its own words English and tells extensions the language."""
        self.setting(THEMES, {"theme": theme})
        self.setting(TRANSLATION, {"locale": LANGUAGES[language]})

    def notebook(self, name: str, *cells: str) -> str:
        """Writes a notebook with these code cells below the root; returns its path there."""
        made = nbformat.v4.new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            cells=[nbformat.v4.new_code_cell(source) for source in cells],
        )
        nbformat.write(made, self.work / name)
        return name

    def start(self) -> Lab:
        extensions = self.home / "labextensions"
        extensions.mkdir(exist_ok=True)
        link = extensions / "cashcode-jupyter"
        if BUILT.is_dir() and not link.exists():
            link.symlink_to(BUILT)  # what this checkout built, not what was once installed
        command = [
            *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.work}",
            f"--ServerApp.base_url={self.base_url}",
            f"--IdentityProvider.token={TOKEN}",
            "--ServerApp.jpserver_extensions={'cashcode_jupyter': True}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
            f"--LabApp.extra_labextensions_path={extensions}",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            f"--JupyterNotebookApp.extra_labextensions_path={extensions}",
        ]
        self._process = Process(command, self.home / "log", self._env, self.home)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.popen.poll() is None:
            if self._answers():
                return self
            time.sleep(0.05)
        text = self.log()
        self.end()
        raise RuntimeError(f"JupyterLab did not start: {text[-4000:]}")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}api/status?token={TOKEN}", timeout=5):
                return True
        except (OSError, urllib.error.URLError):
            return False

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request to `cashcode/api/…` as a client with the token; raises for an error status."""
        request = urllib.request.Request(
            f"{self.address}cashcode/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def log(self) -> str:
        return (self.home / "log").read_text(errors="replace")

    def stop(self, *, kill: bool = False) -> None:
        """The server ends; its folders stay, so that `start` goes on with them on the same port."""
        if self._process is not None:
            self._process.end(kill=kill)
            self._process = None

    def restart(self, *, kill: bool = False) -> None:
        self.stop(kill=kill)
        self.start()

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)
