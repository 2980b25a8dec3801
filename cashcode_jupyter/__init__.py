"""CashCode for Jupyter: a personal AI agent that lives in your own Jupyter.

Importing the package loads nothing but this file; the names below load what they need at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cashcode_jupyter.kernel.panels import panel
    from cashcode_jupyter.kernel.session import Answer, Chat, aask, ask
    from cashcode_jupyter.protocol.errors import CashCodeError

__all__ = ["Answer", "CashCodeError", "Chat", "__version__", "aask", "ask", "panel"]

_HOMES = {
    "Answer": "cashcode_jupyter.kernel.session",
    "Chat": "cashcode_jupyter.kernel.session",
    "aask": "cashcode_jupyter.kernel.session",
    "ask": "cashcode_jupyter.kernel.session",
    "panel": "cashcode_jupyter.kernel.panels",
    "CashCodeError": "cashcode_jupyter.protocol.errors",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from cashcode_jupyter.server.extension import CashCodeExtension

    return [{"module": "cashcode_jupyter", "app": CashCodeExtension}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "cashcode-jupyter"}]


def load_ipython_extension(ip: InteractiveShell) -> None:
    from cashcode_jupyter.kernel.magics import load_ipython_extension as load

    load(ip)


def unload_ipython_extension(ip: InteractiveShell) -> None:
    from cashcode_jupyter.kernel.magics import unload_ipython_extension as unload

    unload(ip)
