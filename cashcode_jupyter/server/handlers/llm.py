"""`settings/llm`: where the models are. Keys go in and never come out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.server.handlers.resource import Resource

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode


async def llm_view(core: CashCode) -> dict[str, Any]:
    """The body of `GET settings/llm`."""
    return await asyncio.to_thread(lambda: core.llm_store.view(core.starter.registered()))


class LlmSettings(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        self.answer(await llm_view(await self.core()))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        body = self.json_object()
        core = await self.core()
        await asyncio.to_thread(core.llm_store.update, body)
        core.redactor.add(await asyncio.to_thread(core.llm_store.secrets))
        self.answer(await llm_view(core))


class LlmTest(Resource):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        body = self.json_object()
        core = await self.core()
        self.answer(await core.models.test(body))


class LlmModels(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        core = await self.core()
        self.answer(await core.models.discover())
