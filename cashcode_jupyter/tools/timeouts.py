"""A time limit for every call. The limit of a tool is part of its spec; the work behind it is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem, WrapperToolset


class TimedToolset(WrapperToolset):
    """Ends a call of `inner` that takes longer than its spec's `timeout`. Waiting for approval is outside of it."""

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        spec = self.spec(name)
        if spec is None:
            return await self.inner.call(name, arguments, ctx)
        try:
            async with asyncio.timeout(spec.timeout):
                return await self.inner.call(name, arguments, ctx)
        except TimeoutError:
            raise ToolProblem(f"{name} was ended after {spec.timeout:g} seconds.") from None
