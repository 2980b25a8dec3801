"""What must be true of the package as a whole before anything runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("openai", "mcp", "numpy", "rank_bm25", "httpx2", "xllamacpp", "pydantic_monty")


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after `statement`."""
    code = (
        f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(result.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement",
    [
        "import cashcode_jupyter",
        "import cashcode_jupyter.server.extension",
        "import cashcode_jupyter.kernel.magics",
        "import cashcode_jupyter.app",
        "import cashcode_jupyter.cli",
    ],
)
def test_loading_brings_in_nothing_heavy(statement: str):
    assert not loaded_after(statement) & set(HEAVY)


@pytest.mark.parametrize(
    "statement", ["import cashcode_jupyter.server.extension", "import cashcode_jupyter.kernel.magics"]
)
def test_the_doors_that_load_at_start_bring_in_no_pydantic(statement: str):
    assert "pydantic" not in loaded_after(statement)


def test_the_core_knows_no_jupyter():
    assert not loaded_after("import cashcode_jupyter.app") & {"jupyter_server", "tornado", "IPython", "traitlets"}
