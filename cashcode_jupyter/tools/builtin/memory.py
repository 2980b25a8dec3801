"""`save_memory`: what the agent shall still know in other chats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic import Field

from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext
from cashcode_jupyter.tools.functions import FunctionToolset, tool


class SaveMemory(Arguments):
    content: str = Field(description="One short, self-contained fact.", max_length=4000)


class MemoryTools(FunctionToolset):
    """`remember` writes one entry and answers with a sentence; it blocks and runs in a thread."""

    def __init__(self, remember: Callable[[str], str]) -> None:
        self._remember = remember
        super().__init__(
            [
                tool(
                    "save_memory",
                    "Remember a lasting fact about the user or their work in all future chats, "
                    "e.g. a preference or a decision. Not for passing details.",
                    SaveMemory,
                    self._save,
                    risk="memory",
                    preview=lambda arguments: arguments["content"],
                )
            ]
        )

    async def _save(self, given: SaveMemory, ctx: CallContext) -> str:
        return await asyncio.to_thread(self._remember, given.content)
