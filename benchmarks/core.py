"""The core in this process, with tools of a benchmark's own in place of the built-in ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel

from benchmarks.children import Home
from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, Toolset, ToolSpec


class Number(BaseModel):
    """What a tool of a benchmark takes; checked as the arguments of built-in tools are."""

    n: int


def numbered(name: str, description: str) -> ToolSpec:
    """A read tool that takes one number."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    return ToolSpec(name, description, schema, arguments=Number)


class ScriptTools(Toolset):
    """`noop` does nothing; `nap` sleeps 200 ms. `most_at_once` is how many calls ever ran together."""

    def __init__(self) -> None:
        self.running = 0
        self.most_at_once = 0

    def specs(self) -> Sequence[ToolSpec]:
        return (numbered("noop", "Do nothing."), numbered("nap", "Sleep for 200 ms."))

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            if name == "nap":
                await asyncio.sleep(0.2)
        finally:
            self.running -= 1
        return ToolOutcome(True, f"done {arguments.get('n')}", preview="done")


@asynccontextmanager
async def core(home: Home, tools: Toolset | None = None) -> AsyncIterator[CashCode]:
    """A started core for the folders of `home`; with `tools` its turns have these and no others."""
    settings = Settings.load(
        {}, data_dir=home.data, config_dir=home.config, workspace=home.workspace, console_log_level="CRITICAL"
    )
    made = CashCode(settings, console=False, tools=tools)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()
