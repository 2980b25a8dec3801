"""`settings/approvals`: which tools may run without asking."""

from __future__ import annotations

import asyncio
from typing import Any

from cashcode_jupyter.resources.request import Request


async def read(request: Request) -> dict[str, Any]:
    core = await request.core()
    return await asyncio.to_thread(core.approvals.view)


async def update(request: Request) -> dict[str, Any]:
    body = request.json_object()
    core = await request.core()
    await asyncio.to_thread(core.approvals.update, body)
    return await asyncio.to_thread(core.approvals.view)
