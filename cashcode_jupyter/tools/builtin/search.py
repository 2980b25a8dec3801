"""`glob` and `grep`: finding files by name and lines by content, below a folder of the workspace.

Version control, caches and installed packages are left out unless the path leads into them. `.gitignore` is not
followed: people ignore their data files, and those are what an agent in a notebook is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import BinaryIO

from pydantic import Field

from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, ToolProblem
from cashcode_jupyter.tools.builtin.globs import PathPattern
from cashcode_jupyter.tools.builtin.workspace import SKIPPED, Entry, OpenWorkspace, Workspace
from cashcode_jupyter.tools.functions import Cancelled, FunctionToolset, in_thread, tool
from cashcode_jupyter.tools.matching import BUDGET, BadPattern, Matcher, PatternTooSlow

MAX_PATHS = 100
MAX_HITS = 50
MAX_SECONDS = 30.0
PIECE = 256 * 1024
SNIFFED = 8192


class Glob(Arguments):
    pattern: str = Field(description="e.g. *.csv (at any depth) or src/**/test_*.py")
    path: str = Field("", description="Folder to search in; left out: the workspace.")


class Grep(Arguments):
    pattern: str = Field(description="Python regular expression, matched line by line; (?i) ignores case.")
    path: str = Field("", description="Folder or file; left out: the workspace.")
    file_pattern: str = Field("", description="Only these files, e.g. *.py")


class SearchTools(FunctionToolset):
    """`open_workspace` gives jailed access to the workspace."""

    def __init__(self, open_workspace: OpenWorkspace) -> None:
        self._open = open_workspace
        super().__init__(
            [
                tool("glob", "Find files by name.", Glob, self._glob),
                tool("grep", "Find lines in files by a regular expression.", Grep, self._grep),
            ]
        )

    async def _glob(self, given: Glob, ctx: CallContext) -> str:
        return await in_thread(lambda cancelled: self._glob_blocking(given, ctx, cancelled))

    def _glob_blocking(self, given: Glob, ctx: CallContext, cancelled: Cancelled) -> str:
        workspace = self._open(ctx.workspace)
        pattern = PathPattern(given.pattern)
        start = _below(given.path, pattern.start)
        found: list[str] = []
        for entry, relative in _walk(workspace, start, cancelled):
            folder = entry.kind == "folder"
            if pattern.matches(relative) and (folder or not pattern.folders_only):
                if len(found) == MAX_PATHS:
                    found.append(f"[more than {MAX_PATHS} match; narrow the pattern or give a path]")
                    break
                found.append(entry.path + "/" * folder)
        return "\n".join(found) or "(no files match)"

    async def _grep(self, given: Grep, ctx: CallContext) -> str:
        matcher = Matcher(given.pattern, most=MAX_HITS)
        try:
            return await in_thread(lambda cancelled: self._grep_blocking(given, ctx, matcher, cancelled))
        finally:
            matcher.kill()

    def _grep_blocking(self, given: Grep, ctx: CallContext, matcher: Matcher, cancelled: Cancelled) -> str:
        workspace = self._open(ctx.workspace)
        files = _files(workspace, given, cancelled)
        hits: list[str] = []
        searched = 0
        note = ""
        path = given.path
        deadline = time.monotonic() + MAX_SECONDS
        try:
            with matcher:
                for path in files:
                    searched += 1
                    for number, line in _hits(workspace, path, matcher, named=path == given.path):
                        hits.append(f"{path}:{number}: {line}")
                    if len(hits) >= MAX_HITS:
                        note = f"[the first {MAX_HITS} matches; narrow the pattern, path or file_pattern]"
                        break
                    if time.monotonic() > deadline:
                        note = f"[stopped after {MAX_SECONDS:.0f} seconds and {searched:,} files; narrow the path]"
                        break
        except BadPattern as error:
            raise ToolProblem(f"The pattern is no valid Python regular expression: {error}.") from None
        except PatternTooSlow:
            note = (
                f"The pattern took more than {BUDGET:g} seconds on {path!r} and was ended. "
                "Use a simpler one, without nested repetition such as (a+)+."
            )
            if not hits:
                raise ToolProblem(note) from None
            note = f"[{note}]"
        if not hits:
            return note or f"(no matches in {searched:,} files)"
        return "\n".join([*hits[:MAX_HITS], *([note] if note else [])])


def _below(path: str, start: str) -> str:
    """`start` seen from `path`; an absolute one stands for itself."""
    if start.startswith("/") or not path:
        return start
    return f"{path.rstrip('/') or '/'}/{start}" if start else path


def _walk(workspace: Workspace, start: str, cancelled: Cancelled) -> Iterator[tuple[Entry, str]]:
    """What is below `start`, each with its path from there."""
    base: str | None = None
    for entry in workspace.walk(start, SKIPPED):
        if cancelled():
            return
        if base is None:
            base = entry.path.removesuffix(entry.name)
        if entry.kind == "folder" and entry.name in SKIPPED:
            continue
        yield entry, entry.path.removeprefix(base)


def _files(workspace: Workspace, given: Grep, cancelled: Cancelled) -> Iterator[str]:
    if workspace.kind(given.path) != "folder":
        yield given.path
        return
    wanted = PathPattern(given.file_pattern) if given.file_pattern else None
    start = _below(given.path, wanted.start if wanted else "")
    for entry, relative in _walk(workspace, start, cancelled):
        if entry.kind == "file" and (wanted is None or wanted.matches(relative)):
            yield entry.path


def _hits(workspace: Workspace, path: str, matcher: Matcher, *, named: bool) -> Iterator[tuple[int, str]]:
    """Line numbers and lines; nothing of a binary file, or of a found one that is gone or may not be read."""
    try:
        file = workspace.open(path)
    except CashCodeError:
        if named:
            raise
        return
    with file:
        first = 1
        for piece in _pieces(file):
            found, ends = matcher.lines(piece)
            yield from ((first + index, line) for index, line in found)
            if len(found) >= MAX_HITS:
                return
            first += ends


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end with a line, or at the length of a piece in a longer line."""
    rest = file.read(PIECE)
    if b"\0" in rest[:SNIFFED]:
        return
    rest = rest.removeprefix(b"\xef\xbb\xbf")
    while rest:
        more = file.read(PIECE)
        cut = rest.rfind(b"\n") + 1 if more else len(rest)
        if cut == 0 and len(rest) >= 4 * PIECE:
            cut = len(rest)
        if cut:
            yield rest[:cut]
        rest = rest[cut:] + more
