"""Tools that are functions of ours: an argument model, a function, and a text back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.protocol.events import Risk
from cashcode_jupyter.tools.arguments import Arguments, parse_model, schema_of
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem, Toolset, ToolSpec, UnknownTool

Given = TypeVar("Given", bound=Arguments)
Answer = TypeVar("Answer")
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Tool:
    """A spec and what runs it."""

    spec: ToolSpec
    run: Callable[[Any, CallContext], Awaitable[str | ToolOutcome]]


def tool(
    name: str,
    description: str,
    arguments: type[Given],
    run: Callable[[Given, CallContext], Awaitable[str | ToolOutcome]],
    *,
    risk: Risk = "read",
    timeout: float = 120.0,
    preview: Callable[[dict[str, Any]], str] | None = None,
) -> Tool:
    """A tool whose schema is that of its argument model."""
    spec = ToolSpec(
        name, description, schema_of(arguments), risk, timeout=timeout, preview=preview, arguments=arguments
    )
    return Tool(spec, run)


class FunctionToolset(Toolset):
    """Checks the arguments and runs the function.

    An error with a sentence of its own (`CashCodeError`, e.g. of the jail) is a problem for the model to read.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {each.spec.name: each for each in tools}

    def specs(self) -> Sequence[ToolSpec]:
        return tuple(each.spec for each in self._tools.values())

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        found = self._tools.get(name)
        if found is None:
            raise UnknownTool(name)
        assert found.spec.arguments is not None
        given = parse_model(found.spec.arguments, arguments, found.spec)
        try:
            answer = await found.run(given, ctx)
        except CashCodeError as error:
            raise ToolProblem(error.detail) from error
        return answer if isinstance(answer, ToolOutcome) else ToolOutcome(ok=True, text=answer)


async def in_thread(work: Callable[[Cancelled], Answer]) -> Answer:
    """Run blocking work in a thread; it asks `cancelled()` between slices and returns early once that is true."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()
