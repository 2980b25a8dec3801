"""`read_file` and `list_dir`. A file is read as far as it is shown, however large it is."""

from __future__ import annotations

import dataclasses

from pydantic import Field

from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, ToolOutcome
from cashcode_jupyter.tools.builtin.pages import Page, describe, read_page
from cashcode_jupyter.tools.builtin.workspace import OpenWorkspace, size_text
from cashcode_jupyter.tools.functions import Cancelled, FunctionToolset, in_thread, tool
from cashcode_jupyter.tools.results import SPILL_FOLDER, SPILL_NAME

MAX_ENTRIES = 200
DEFAULT_LINES = 500
MAX_LINES = 2000


class ReadFile(Arguments):
    path: str = Field(description="File in the workspace, or results/<id>.txt named by an earlier result.")
    offset: int = Field(1, ge=0, description="First line, from 1.")
    limit: int = Field(DEFAULT_LINES, ge=1, le=MAX_LINES, description="Number of lines.")


class ListDir(Arguments):
    path: str = Field("", description="Folder; left out: the workspace.")


class FileTools(FunctionToolset):
    """`open_workspace` gives jailed access to a folder: the workspace, and the chat's own results."""

    def __init__(self, open_workspace: OpenWorkspace) -> None:
        self._open = open_workspace
        super().__init__(
            [
                tool(
                    "read_file",
                    "Read a text file or notebook. Long files come in pages: go on with offset.",
                    ReadFile,
                    self._read,
                ),
                tool("list_dir", "List a folder: folders first, then files with their sizes.", ListDir, self._list),
            ]
        )

    async def _read(self, given: ReadFile, ctx: CallContext) -> ToolOutcome:
        return await in_thread(lambda cancelled: self._read_blocking(given, ctx, cancelled))

    def _read_blocking(self, given: ReadFile, ctx: CallContext, cancelled: Cancelled) -> ToolOutcome:
        page = Page(first=max(1, given.offset), count=given.limit)
        name = given.path.strip().removeprefix("./")
        spilled = SPILL_NAME.fullmatch(name) is not None and (ctx.results / name.rpartition("/")[2]).is_file()
        if spilled:
            workspace, path = self._open(ctx.results), name.removeprefix(f"{SPILL_FOLDER}/")
            page = dataclasses.replace(page, wrap=True)
        else:
            workspace, path = self._open(ctx.workspace), given.path
        with workspace.open(path) as file:
            text = describe(file, path) or read_page(file, path, page, cancelled)
        return ToolOutcome(ok=True, text=text, bounded=spilled)

    async def _list(self, given: ListDir, ctx: CallContext) -> str:
        entries = await in_thread(lambda _: self._open(ctx.workspace).entries(given.path))
        folders = [f"{entry.name}/" for entry in entries if entry.kind == "folder"]
        files = [
            f"{entry.name}  ({size_text(entry.size) if entry.kind == 'file' else entry.kind})"
            for entry in entries
            if entry.kind != "folder"
        ]
        lines = [*folders, *files]
        if not lines:
            return "(empty folder)"
        if len(lines) > MAX_ENTRIES:
            left = len(lines) - MAX_ENTRIES
            lines = [*lines[:MAX_ENTRIES], f"[{left:,} more entries; use glob with a pattern to narrow them down]"]
        return "\n".join(lines)
