"""A chat as a file for elsewhere: a notebook, Markdown, its records, or a session of Claude Code.

Reading needs no lease: what a running turn has stored so far is in the file. No configured secret is.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import metadata
from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.export_claude_code import session, session_id
from cashcode_jupyter.memory.export_markdown import markdown
from cashcode_jupyter.memory.export_notebook import notebook
from cashcode_jupyter.memory.export_records import records
from cashcode_jupyter.memory.export_steps import steps
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.protocol.errors import BadSetting, InvalidChatId, NotFound
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.storage.atomic import storage_errors

Format = Literal["ipynb", "md", "jsonl", "claude-code"]
FORMATS: tuple[str, ...] = get_args(Format)
MEDIA_TYPES = {
    "ipynb": "application/x-ipynb+json",
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "claude-code": "application/x-ndjson",
}
PIECE = 256 << 10
NO_FOLDER = "/"


@dataclass(frozen=True)
class Export:
    """A file to be: its name (ASCII, no folder), its media type, and its UTF-8 bytes in pieces, to be read once."""

    file_name: str
    media_type: str
    pieces: Iterator[bytes]

    async def stream(self) -> AsyncIterator[bytes]:
        """The pieces, each read in a thread; raises `StorageError`, `ReadOnly`."""
        with storage_errors(_("the chat")):
            while piece := await asyncio.to_thread(next, self.pieces, b""):
                yield piece

    async def read(self) -> bytes:
        """The whole file."""
        return b"".join([piece async for piece in self.stream()])


def export_chat(paths: Paths, chat_id: str, format: str, redactor: Redactor, *, cwd: str = NO_FOLDER) -> Export:
    """The chat in one of `FORMATS`; blocks for its metadata. `cwd` is the folder that a Claude Code session names.

    Raises `InvalidChatId`, `NotFound`, and `BadSetting` for another format.
    """
    if format not in FORMATS:
        raise BadSetting(_("A chat is exported as one of: {formats}.").format(formats=", ".join(FORMATS)))
    if not valid_chat_id(chat_id) or (folder := paths.chat(chat_id)).is_symlink():
        raise InvalidChatId("invalid chat_id")
    with storage_errors(_("the chat")):
        history = folder / metadata.HISTORY
        if not history.is_file() or history.is_symlink():
            raise NotFound(_("There is no such chat."))
        about = metadata.read(folder)
    title, llm = redactor(metadata.title_of(about)), metadata.llm_of(about)
    name = re.sub(r"[^A-Za-z0-9_-]", "-", chat_id)
    if format == "jsonl":
        return _export(f"{name}.jsonl", format, records(chat_id, title, llm, history, redactor))
    told = steps(history, redactor)
    if format == "md":
        return _export(f"{name}.md", format, markdown(title, told))
    if format == "claude-code":
        model = llm.model if llm else ""
        return _export(f"{session_id(chat_id)}.jsonl", format, session(chat_id, title, model, cwd, told))
    return _export(f"{name}.ipynb", format, notebook(chat_id, title, llm, told, Attachments(folder)))


def _export(file_name: str, format: str, texts: Iterator[str]) -> Export:
    return Export(file_name, MEDIA_TYPES[format], _pieces(texts))


def _pieces(texts: Iterator[str]) -> Iterator[bytes]:
    """Texts gathered to pieces of some size, as UTF-8; a lone surrogate, which has none, becomes `?`."""
    gathered = bytearray()
    for text in texts:
        gathered += text.encode("utf-8", "replace")
        if len(gathered) >= PIECE:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)
