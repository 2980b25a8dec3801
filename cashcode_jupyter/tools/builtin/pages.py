"""A page of lines from a file of any size and encoding, with a note on how to go on.

A whole file that fits comes back exactly as it is; notes stand in square brackets at the end.
"""

from __future__ import annotations

import codecs
import io
import mimetypes
import os
import re
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from cashcode_jupyter.tools.builtin.cells import MAX_NOTEBOOK_BYTES, render_notebook
from cashcode_jupyter.tools.builtin.workspace import size_text
from cashcode_jupyter.tools.functions import Cancelled

MAX_LINE = 2000
MAX_PAGE = 32_000
MAX_COUNTED = 5_000_000
SNIFFED = 8192
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNDECODED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Page:
    """`count` lines from line `first` (1-based). `wrap` makes each 2,000 characters of a long line a line of their
    own, so that nothing is out of reach; otherwise long lines are cut."""

    first: int
    count: int
    wrap: bool = False


def is_binary(start: bytes) -> bool:
    return b"\0" in start and not start.startswith(_UTF16)


def describe(file: BinaryIO, path: str) -> str | None:
    """What to say of a file whose content is no text; None for text."""
    start = file.read(SNIFFED)
    file.seek(0)
    if not start:
        return "(empty file)"
    if not is_binary(start):
        return None
    kind = mimetypes.guess_type(path)[0] or "unknown type"
    return (
        f"[binary file, {kind}, {size_text(os.fstat(file.fileno()).st_size)}; its content cannot be shown as text]"
    )


def read_page(file: BinaryIO, path: str, page: Page, cancelled: Cancelled) -> str:
    """The page as text for the model; a notebook is shown as its cells."""
    size = os.fstat(file.fileno()).st_size
    if path.lower().endswith(".ipynb") and size <= MAX_NOTEBOOK_BYTES:
        rendered = render_notebook(file.read())
        if rendered is not None:
            return _page(io.StringIO(rendered), page, cancelled, len(rendered))
        file.seek(0)
    encoding = "utf-16" if file.read(2) in _UTF16 else "utf-8-sig"
    file.seek(0)
    return _page(io.TextIOWrapper(file, encoding, "surrogateescape"), page, cancelled, size)


def _page(stream: TextIO, page: Page, cancelled: Cancelled, size: int) -> str:
    for line in range(1, page.first):
        if cancelled() or _next_line(stream, page.wrap) is None:
            return f"[the file has only {line - 1:,} lines; offset={page.first} is past its end]"
    shown: list[str] = []
    room = MAX_PAGE
    following = None
    while (line := _next_line(stream, page.wrap)) is not None:
        if len(shown) == page.count or (shown and len(line) > room):
            following = line
            break
        shown.append(line)
        room -= len(line)
    if not shown:
        return f"[the file has only {page.first - 1:,} lines; offset={page.first} is past its end]"
    last = page.first + len(shown) - 1
    text = "".join(shown)
    notes = []
    if _UNDECODED.search(text):
        text = _UNDECODED.sub("\N{REPLACEMENT CHARACTER}", text)
        notes.append("[not UTF-8: bytes that could not be decoded are shown as \N{REPLACEMENT CHARACTER}]")
    if following is not None:
        total = _count(stream, last + 1, page.wrap, cancelled) if size <= MAX_COUNTED else None
        whole = f"of {total:,}" if total else f"of a file of {size_text(size)}"
        notes.append(f"[lines {page.first:,}-{last:,} {whole}; continue with offset={last + 1}]")
    elif page.first > 1:
        notes.append(f"[lines {page.first:,}-{last:,}, end of file]")
    if notes and not text.endswith("\n"):
        text += "\n"
    return text + "\n".join(notes)


def _next_line(stream: TextIO, wrap: bool) -> str | None:
    line = stream.readline(MAX_LINE + 1)
    if not line:
        return None
    if line.endswith("\n") or len(line) <= MAX_LINE:
        return line
    if wrap:
        return line + "\n"
    left = 0
    while piece := stream.readline(65_536):
        left += len(piece)
        if piece.endswith("\n"):
            break
    return f"{line} … [line cut, {left:,} more characters]\n"


def _count(stream: TextIO, known: int, wrap: bool, cancelled: Cancelled) -> int | None:
    while _next_line(stream, wrap) is not None:
        known += 1
        if known % 10_000 == 0 and cancelled():
            return None
    return known
