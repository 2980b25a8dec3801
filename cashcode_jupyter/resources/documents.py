"""`memory` and `persona`: texts that are replaced only by who has seen the text that is replaced."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from cashcode_jupyter.resources.request import Request


async def read_memory(request: Request) -> dict[str, Any]:
    core = await request.core()
    return asdict(await asyncio.to_thread(core.memory.read))


async def write_memory(request: Request) -> dict[str, Any]:
    from cashcode_jupyter.resources.bodies import Text

    body = request.read(Text)
    core = await request.core()
    return asdict(await asyncio.to_thread(core.memory.write, body.text, body.expected_hash))


async def read_persona(request: Request) -> dict[str, Any]:
    core = await request.core()
    return asdict(await asyncio.to_thread(core.persona.read))


async def write_persona(request: Request) -> dict[str, Any]:
    """An empty text returns to the built-in persona."""
    from cashcode_jupyter.resources.bodies import Text

    body = request.read(Text)
    core = await request.core()
    return asdict(await asyncio.to_thread(core.persona.write, body.text, body.expected_hash))
