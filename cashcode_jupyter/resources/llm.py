"""`settings/llm`: where the models are. Keys go in and never come out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.resources.request import Request

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode


async def view(core: CashCode) -> dict[str, Any]:
    """The body of `GET settings/llm`."""
    return await asyncio.to_thread(lambda: core.llm_store.view(core.starter.registered()))


async def read(request: Request) -> dict[str, Any]:
    return await view(await request.core())


async def update(request: Request) -> dict[str, Any]:
    body = request.json_object()
    core = await request.core()
    await asyncio.to_thread(core.llm_store.update, body)
    core.redactor.add(await asyncio.to_thread(core.llm_store.secrets))
    return await view(core)


async def test(request: Request) -> dict[str, Any]:
    body = request.json_object()
    core = await request.core()
    return await core.models.test(body)


async def models(request: Request) -> dict[str, Any]:
    core = await request.core()
    return await core.models.discover()
