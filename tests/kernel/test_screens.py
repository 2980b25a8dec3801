"""What each kind of client sees: front ends stream, everything that runs unattended gets one display."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.kernel.conftest import Kernel, StartKernel, clean_environment

ANSWER = directive(say="It is four.", chunks=8, delay_ms=30)


def test_a_client_that_cannot_ask_gets_one_display(kernel: Kernel):
    ran = kernel.run(f"%%cashcode\n{ANSWER}", allow_stdin=False)
    assert ran.kinds == ["display_data"]
    assert ran.shown["text/plain"] == "It is four."


def test_a_test_run_gets_one_display(start_kernel: StartKernel):
    assert start_kernel(PYTEST_VERSION="9").run(f"%%cashcode\n{ANSWER}").kinds == ["display_data"]


def test_a_front_end_under_a_test_run_streams(start_kernel: StartKernel):
    ran = start_kernel(PYTEST_VERSION="9").run(f"%%cashcode\n{ANSWER}", cell_id="abc")
    assert ran.kinds[0] == "stream"


def notebook(path: Path, *sources: str) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources)]
    made = nbformat.v4.new_notebook(
        cells=cells,
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(made, path)
    return made


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment as if no test ran, for what starts kernels by itself."""
    for name in ("PYTEST_VERSION", "PYTEST_CURRENT_TEST", "JPY_SESSION_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def test_nbclient_saves_exactly_the_answer(cashcode_home: CashcodeHome, tmp_path: Path, outside: None):
    made = notebook(tmp_path / "a.ipynb", "%load_ext cashcode_jupyter", f"%%cashcode\n{ANSWER}")
    NotebookClient(made, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    [output] = made.cells[1].outputs
    assert output.output_type == "display_data"
    assert output.data["text/plain"] == "It is four."


def test_nbval_accepts_a_notebook_that_was_saved_with_its_answer(
    cashcode_home: CashcodeHome, tmp_path: Path, outside: None
):
    path = tmp_path / "a.ipynb"
    made = notebook(path, "%load_ext cashcode_jupyter", f"%%cashcode --new\n{ANSWER}")
    NotebookClient(made, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    nbformat.write(made, path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "nbval", "--nbval", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=clean_environment(), check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "2 passed" in done.stdout


def test_papermill_runs_it(cashcode_home: CashcodeHome, tmp_path: Path, outside: None):
    papermill = pytest.importorskip("papermill")
    notebook(tmp_path / "a.ipynb", "%load_ext cashcode_jupyter", f"%%cashcode\n{ANSWER}")
    made = papermill.execute_notebook(
        str(tmp_path / "a.ipynb"), str(tmp_path / "b.ipynb"), progress_bar=False, cwd=str(tmp_path)
    )
    [output] = made.cells[1].outputs
    assert output["data"]["text/plain"] == "It is four."


def test_plain_ipython_streams_and_does_not_repeat(cashcode_home: CashcodeHome, tmp_path: Path):
    script = (
        "ip = get_ipython(); ip.run_line_magic('load_ext', 'cashcode_jupyter'); "
        f"ip.run_cell_magic('cashcode', '', {ANSWER!r})"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", script],
        capture_output=True,
        text=True,
        env=clean_environment(IPYTHONDIR=str(tmp_path / "ipython")),
        cwd=cashcode_home.workspace,
        check=True,
    )
    assert done.stdout.count("It is four.") == 1
    assert "Markdown" not in done.stdout
