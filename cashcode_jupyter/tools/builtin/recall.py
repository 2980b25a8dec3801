"""`recall`: what was said in earlier chats, found by its words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import Field

from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, ToolOutcome
from cashcode_jupyter.tools.functions import FunctionToolset, tool

DEFAULT, MOST = 5, 20


class RecallQuery(Arguments):
    query: str = Field(description="Words that were said then, in their language.", min_length=1, max_length=1000)
    limit: int = Field(DEFAULT, description="How many turns.", ge=1, le=MOST)


class RecallTools(FunctionToolset):
    """`find` takes the query, how many turns, and the chat that asks; it answers with a bounded text."""

    def __init__(self, find: Callable[[str, int, str], Awaitable[str]]) -> None:
        self._find = find
        super().__init__(
            [
                tool(
                    "recall",
                    "Search earlier chats with the user for what was said or done. Gives the best turns with what "
                    "stands around them. Use it when the user refers to something that is not in this chat.",
                    RecallQuery,
                    self._recall,
                    timeout=30.0,
                )
            ]
        )

    async def _recall(self, given: RecallQuery, ctx: CallContext) -> ToolOutcome:
        return ToolOutcome(ok=True, text=await self._find(given.query, given.limit, ctx.chat_id), bounded=True)
