"""`persona`: SOUL.md, who the agent is; an empty text returns to the built-in persona."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.server.handlers.resource import Resource


class Persona(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        core = await self.core()
        self.answer(asdict(await asyncio.to_thread(core.persona.read)))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        from cashcode_jupyter.server.bodies import Text

        body = self.read(Text)
        core = await self.core()
        self.answer(asdict(await asyncio.to_thread(core.persona.write, body.text, body.expected_hash)))
