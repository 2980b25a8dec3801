"""What of a result goes into the context: 8,000 characters, the rest into a file that the model can page through.

Rule: nothing leaves here unredacted, on disk neither, and no spill file is ever overwritten.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cashcode_jupyter.storage.atomic import storage_errors
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem, Toolset, WrapperToolset

MAX_INLINE = 8000
MAX_PREVIEW = 2000
HEAD_SHARE = 0.7
SPILL_FOLDER = "results"
EMPTY = "(no output)"
SPILL_NAME = re.compile(rf"{SPILL_FOLDER}/[A-Za-z0-9_-]{{1,80}}\.txt")
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ShapedToolset(WrapperToolset):
    """Redacts and bounds every result of `inner`; problems come back as failed outcomes in the same shape."""

    def __init__(self, inner: Toolset, redact: Callable[[str], str]) -> None:
        super().__init__(inner)
        self._redact = redact

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        try:
            outcome = await self.inner.call(name, arguments, ctx)
        except ToolProblem as problem:
            outcome = ToolOutcome(ok=False, text=problem.text)
        if len(outcome.text) <= MAX_INLINE:
            return self._shaped(outcome, name, ctx)
        return await asyncio.to_thread(self._shaped, outcome, name, ctx)

    def _shaped(self, outcome: ToolOutcome, name: str, ctx: CallContext) -> ToolOutcome:
        text = self._redact(well_formed(outcome.text))
        if not text.strip():
            text = EMPTY
        preview = self._redact(well_formed(outcome.preview)) or text
        preview = preview if len(preview) <= MAX_PREVIEW else preview[: MAX_PREVIEW - 1] + "…"
        outcome = dataclasses.replace(outcome, text=text, preview=preview)
        if outcome.bounded or len(text) <= MAX_INLINE:
            return outcome
        spill = write_spill(ctx.results, ctx.call_id, text)
        shown = excerpt(text, name, spill)
        return dataclasses.replace(outcome, text=shown, truncated=True, spill=spill)


def excerpt(text: str, tool: str, spill: str) -> str:
    """The head and tail of `text`, cut at line ends where one is near, with a marker that says what is missing."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    room = MAX_INLINE - 400
    head = text[: int(room * HEAD_SHARE)]
    tail = text[len(text) - (room - len(head)) :]
    if (end := head.rfind("\n")) > len(head) // 2:
        head = head[: end + 1]
    if 0 <= (start := tail.find("\n")) < len(tail) // 2:
        tail = tail[start + 1 :]
    kept = len(head) + len(tail)
    return (
        f"{head.rstrip()}\n\n"
        f"[{tool}: {len(text):,} characters, {kept:,} shown (head and tail), {len(text) - kept:,} left out here. "
        f'The whole result is in "{spill}" (sha256 {digest}); read it with read_file, using offset and limit.]\n\n'
        f"{tail.lstrip()}"
    )


def write_spill(folder: Path, call_id: str, text: str) -> str:
    """Keep a whole result in the chat's spill folder; gives its name, `results/<call_id>.txt`.

    Some servers use the same call id again in a later turn; the older file is kept and the new name gets a number.
    Raises `StorageError`.
    """
    data = text.encode()
    stem = spill_stem(call_id)
    with storage_errors("the tool result"):
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, 10_000):
            name = f"{stem}.txt" if number == 1 else f"{stem}-{number}.txt"
            try:
                file = (folder / name).open("xb")
            except FileExistsError:
                continue
            try:
                with file:
                    file.write(data)
            except OSError:
                (folder / name).unlink(missing_ok=True)
                raise
            return f"{SPILL_FOLDER}/{name}"
        raise FileExistsError(f"{SPILL_FOLDER}/{stem}.txt")


def spill_stem(call_id: str) -> str:
    """The call id if it is safe as a file name, else a hash of it."""
    if _SAFE_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode(errors="surrogatepass")).hexdigest()[:32]


def well_formed(text: str) -> str:
    """`text` without lone surrogates, which no JSON encoder or file would take."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
