from __future__ import annotations

import json
import re
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
import pytest

from cashcode_jupyter.cli import notebook as headless
from cashcode_jupyter.cli import try_
from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.protocol.errors import NotFound, StorageError
from cashcode_jupyter.testing.fixtures import CashcodeHome

from .conftest import Program


def notebook_of(path: Path, *sources: str) -> Path:
    notebook: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbformat.write(notebook, path)
    return path


def test_the_quickstart_is_copied_and_a_file_that_is_there_stays(tmp_path: Path) -> None:
    first = try_.copy_quickstart(tmp_path / "new")
    first.write_text("mine")
    second = try_.copy_quickstart(tmp_path / "new")
    assert first.read_text() == "mine"
    assert second.name == "01-quickstart-2.ipynb"
    assert second.read_bytes() == try_.quickstart().read_bytes()


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        try_.copy_quickstart(tmp_path / "file")


def test_a_package_without_the_notebook_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "NOTEBOOK", "gone.ipynb")
    with pytest.raises(NotFound, match="Install the package again"):
        try_.quickstart()


def test_a_notebook_is_executed_by_this_python_and_its_answers_are_printed(
    tmp_path: Path, cashcode_home: CashcodeHome, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = notebook_of(
        tmp_path / "n.ipynb",
        "import sys; print('by', sys.executable)",
        "%load_ext cashcode_jupyter",
        "%%cashcode\n[[mock:text,say=Hello from the model]]",
    )
    assert headless.execute(path, Console()) == 0
    out = capfdbinary.readouterr().out.decode()
    assert f"by {sys.executable}" in out
    assert "> %%cashcode" in out and "Hello from the model" in out
    saved: Any = nbformat.read(path, as_version=4)
    assert "Hello from the model" in json.dumps(saved.cells[2].outputs)


def test_a_cell_that_fails_is_shown_and_is_a_failure(
    tmp_path: Path, cashcode_home: CashcodeHome, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = notebook_of(tmp_path / "n.ipynb", "1/0", "print('not reached')")
    assert headless.execute(path, Console()) == 1
    out = capfdbinary.readouterr().out.decode()
    assert "ZeroDivisionError" in out and "not reached\n" not in out.replace("> print('not reached')", "")


def test_headless_runs_the_quickstart_and_prints_it(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    done = cashcode("try", "--headless")
    assert done.code == 0, done.err
    assert (cashcode_home.workspace / "cashcode-try" / "01-quickstart.ipynb").exists()


def answer_of(url: str) -> dict[str, Any]:
    """What a server says that has told its address and listens an instant later."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > deadline:
                raise


def test_jupyterlab_opens_the_copy_and_ends_with_us(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    process = cashcode.start(
        *("try", "--port", "0", "--dir", "lab", "--", "--no-browser", "--allow-root", "--IdentityProvider.token=t")
    )
    assert process.stderr
    address = next((found for line in process.stderr if (found := re.search(r"http://127\S+?:(\d+)/", line))), None)
    assert address, "JupyterLab ended"
    for path, field, value in (
        ("cashcode/api/health", "service", "cashcode"),
        ("api/contents/01-quickstart.ipynb", "type", "notebook"),
    ):
        assert answer_of(f"{address[0]}{path}?token=t")[field] == value
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) in (0, 143)
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", int(address[1])), timeout=1):
        pass


def test_without_jupyterlab_the_pip_line_is_told(cashcode: Program, tmp_path: Path) -> None:
    (tmp_path / "blocked" / "sitecustomize.py").parent.mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text("import sys; sys.modules['jupyterlab'] = None")
    cashcode.environ["PYTHONPATH"] = str(tmp_path / "blocked")
    done = cashcode("try")
    assert done.code == 1
    assert 'pip install "cashcode-jupyter[lab]"' in done.err
