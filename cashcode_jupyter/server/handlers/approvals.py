"""`settings/approvals`: which tools may run without asking."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.server.handlers.resource import Resource


class Approvals(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        core = await self.core()
        self.answer(await asyncio.to_thread(core.approvals.view))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        body = self.json_object()
        core = await self.core()
        await asyncio.to_thread(core.approvals.update, body)
        self.answer(await asyncio.to_thread(core.approvals.view))
