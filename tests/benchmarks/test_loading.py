"""Loading the extension or the magic imports nothing that only a message needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.children import Home

FORBIDDEN = ("openai", "mcp", "numpy", "rank_bm25", "httpx", "httpx2", "xllamacpp", "pydantic")
SAY = f"import sys; print('LOADED', *sorted(set({FORBIDDEN!r}) & sys.modules.keys()))"
EXTENSION = f"""
from jupyter_server.serverapp import ServerApp
app = ServerApp(open_browser=False, port=0, allow_root=True, log_level="ERROR")
app.initialize(["--ServerApp.jpserver_extensions=cashcode_jupyter=True"], find_extensions=False)
assert app.extension_manager.extension_apps["cashcode_jupyter"], "not loaded"
{SAY}
"""
MAGIC = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "cashcode_jupyter")
assert shell.find_cell_magic("cashcode"), "not loaded"
{SAY}
"""


def loaded(code: str, folder: Path) -> list[str]:
    home = Home(folder)
    home.workspace.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", code], env=home.environment(), cwd=home.workspace, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.rpartition("LOADED")[2].split()


def test_loading_the_server_extension_imports_none_of_the_heavy_libraries(tmp_path: Path):
    assert loaded(EXTENSION, tmp_path) == []


def test_loading_the_magic_imports_none_of_the_heavy_libraries(tmp_path: Path):
    assert loaded(MAGIC, tmp_path) == []
