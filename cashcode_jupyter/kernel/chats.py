"""Which chat a question belongs to when none is named: its notebook's, in every kernel and after every restart."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cashcode_jupyter.protocol.chat_names import slugged

# VS Code puts a random id into the session's name, new for each kernel.
_VSCODE_TAIL = re.compile(r"-jvsc-[0-9a-f-]{30,}(?=\.ipynb$|$)")


def new_chat_id() -> str:
    return f"chat-{secrets.token_hex(6)}"


def default_chat_id(namespace: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """The chat of this notebook, or of this folder where nothing names the notebook.

    VS Code tells the kernel the notebook's file in its namespace, a Jupyter server in `JPY_SESSION_NAME` (the
    folder and the session's name; the file's name in JupyterLab). Both survive a restart of kernel and server;
    a moved or renamed notebook starts a new chat. Kernels of nbclient, papermill and plain IPython have neither,
    so all of one folder share one chat.
    """
    notebook = namespace.get("__vsc_ipynb_file__") or environ.get("JPY_SESSION_NAME")
    if isinstance(notebook, str) and notebook.strip():
        path = _VSCODE_TAIL.sub("", os.path.abspath(notebook))  # noqa: PTH100 (a name, not a file: no symlinks)
        return slugged(Path(path).name.removesuffix(".ipynb"), path)
    folder = str(Path.cwd())
    return slugged(Path(folder).name or "notebook", folder)
