"""`GET health`: whether the agent can work, and what stands in its way."""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.resources import llm
from cashcode_jupyter.resources.request import Request


async def read(request: Request) -> dict[str, Any]:
    core = await request.core()
    health: dict[str, Any] = {
        "status": "ok",
        "service": "cashcode",
        "version": core.version,
        "llm_configured": (await llm.view(core))["configured"],
        "watches": 0,
        "mcp_connected": 0,
    }
    if core.shares_data_dir:
        health["shares_data_dir"] = True
    return {**health, **request.facts}
