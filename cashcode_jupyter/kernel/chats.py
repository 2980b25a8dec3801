"""Which chat a question belongs to. A name always means the same chat, in every kernel and after every restart.

A valid chat id is its own name. Any other name becomes a readable slug and a short hash of the whole name.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.failures import BadOption

# The protocol's grammar, written again because `protocol.actions` loads pydantic and `%load_ext` must not;
# a test holds the two together.
_CHAT_ID = re.compile(r"[A-Za-z0-9_:-]{1,64}")
# VS Code puts a random id into the session's name, new for each kernel.
_VSCODE_TAIL = re.compile(r"-jvsc-[0-9a-f-]{30,}(?=\.ipynb$|$)")


def chat_id(name: str) -> str:
    """The chat of that name; raises `BadOption` for a blank one."""
    if _CHAT_ID.fullmatch(name):
        return name
    name = unicodedata.normalize("NFC", name.strip())
    if not name:
        raise BadOption(_("A chat needs a name."))
    if _CHAT_ID.fullmatch(name):
        return name
    return _slugged(name, name)


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
        return _slugged(Path(path).name.removesuffix(".ipynb"), path)
    folder = str(Path.cwd())
    return _slugged(Path(folder).name or "notebook", folder)


def _slugged(readable: str, whole: str) -> str:
    plain = unicodedata.normalize("NFKD", readable).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-")[:40].strip("-")
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug or 'chat'}-{digest}"
