from __future__ import annotations

import json
import subprocess
import sys

from tests.kernel.conftest import clean_environment

SCRIPT = """
import json, sys, time, threading
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before, threads = set(sys.modules), threading.active_count()
started = time.perf_counter()
shell.run_line_magic("load_ext", "cashcode_jupyter")
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "loaded": sorted(set(sys.modules) - before),
                  "threads": threading.active_count() - threads}))
"""
HEAVY = ("openai", "mcp", "numpy", "rank_bm25", "pydantic", "httpx2", "xllamacpp", "tornado", "jupyter_server")
WIDGETS = ("anywidget", "ipywidgets", "comm")


def test_loading_is_quick_and_loads_no_library_and_starts_nothing():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=clean_environment()
    )
    facts = json.loads(done.stdout.splitlines()[-1])
    assert not [name for name in facts["loaded"] if name.split(".")[0] in HEAVY + WIDGETS]
    assert facts["seconds"] < 0.2
    assert facts["threads"] == 0


def test_unloading_takes_the_magics_away():
    code = SCRIPT.rsplit("print", 1)[0] + (
        "shell.run_line_magic('unload_ext', 'cashcode_jupyter')\n"
        "print(json.dumps([kind for kind in ('line', 'cell') if 'cashcode' in shell.magics_manager.magics[kind]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment()
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []
