"""What the person in front of a cell can see and answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Screen(Enum):
    """LIVE: a front end; pieces stream, then one display replaces them. TERMINAL: the streamed text is all.
    QUIET: nobody watches; only the one display is published."""

    LIVE = "live"
    TERMINAL = "terminal"
    QUIET = "quiet"


def screen(shell: InteractiveShell | None, cell_id: str | None, environ: Mapping[str, str] = os.environ) -> Screen:
    """Where the running cell shows.

    A front end says in its execute request that it can ask a person (`allow_stdin`: JupyterLab, Notebook, VS Code,
    Colab, the Jupyter console do; nbclient, and with it nbconvert, papermill and Voilà, and nbval do not). A test
    run (`PYTEST_VERSION`) is quiet as well, unless a front end's cell id shows that somebody watches.
    """
    kernel = getattr(shell, "kernel", None)
    if shell is None or kernel is None:
        return Screen.TERMINAL
    if not _request(shell).get("allow_stdin", False):
        return Screen.QUIET
    if "PYTEST_VERSION" in environ and cell_id is None:
        return Screen.QUIET
    return Screen.LIVE


def can_ask(where: Screen) -> bool:
    """Whether `input()` reaches a person."""
    if where is Screen.TERMINAL:
        return sys.stdin is not None and sys.stdin.isatty()
    return where is Screen.LIVE


def _request(shell: Any) -> Mapping[str, Any]:
    """The content of the execute request that the running cell answers."""
    parent = shell.get_parent() or {}
    return parent.get("content") or {}
