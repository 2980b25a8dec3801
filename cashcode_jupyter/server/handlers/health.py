"""`GET health`: whether the agent can work, and what stands in its way."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.server.handlers.llm import llm_view
from cashcode_jupyter.server.handlers.resource import Resource


class Health(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        core = await self.core()
        llm = await llm_view(core)
        health = {
            "status": "ok",
            "service": "cashcode",
            "version": core.version,
            "llm_configured": llm["configured"],
            "watches": 0,
            "mcp_connected": 0,
        }
        if core.shares_data_dir:
            health["shares_data_dir"] = True
        if self.door.compat is not None:
            health["compat"] = self.door.compat
        self.answer(health)
