"""What the subcommands read: chats, models and memory, from the parent server's REST routes or the core in here."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.discovery import Server, find_server, rest_headers
from cashcode_jupyter.kernel.failures import ServerGone, of_event
from cashcode_jupyter.kernel.link import Door, Unreachable

SECONDS = 15.0


async def chats(door: Door, limit: int = 20) -> list[dict[str, Any]]:
    """The newest chats: `chat_id`, `title`, `updated_at`."""
    if server := await _server(door):
        return (await _get(server, f"sessions?limit={limit}"))["sessions"]
    rows, _next = await (await door.embedded()).sessions.listing(limit=limit)
    return [{"chat_id": row.chat_id, "title": row.title, "updated_at": row.updated_at} for row in rows]


async def llm(door: Door) -> dict[str, Any]:
    """The model settings without keys: `configured`, `default`, and the state of each provider."""
    if server := await _server(door):
        return await _get(server, "settings/llm")
    core = await door.embedded()
    return await asyncio.to_thread(lambda: core.llm_store.view(core.starter.registered()))


async def models(door: Door) -> dict[str, Any]:
    """`models` that the providers offer, and the state of each of the `providers`."""
    if server := await _server(door):
        return await _get(server, "settings/llm/models")
    return await (await door.embedded()).models.discover()


async def memory(door: Door) -> str:
    """The text of MEMORY.md."""
    if server := await _server(door):
        return (await _get(server, "memory"))["text"]
    core = await door.embedded()
    return (await asyncio.to_thread(core.memory.read)).text


async def last_answer(door: Door, chat_id: str, question: str) -> str | None:
    """The stored answer to `question` if that is the chat's last message; None when it cannot be told."""
    try:
        if server := await _server(door):
            rows = (await _get(server, f"sessions/{quote(chat_id, safe='')}/messages?limit=2"))["messages"]
        else:
            rows = await (await door.embedded()).sessions.messages(chat_id, limit=2)
    except ServerGone:
        return None
    if len(rows) < 2 or [row["role"] for row in rows[-2:]] != ["user", "assistant"]:
        return None
    return rows[-1]["content"] if rows[-2]["content"] == question else None


async def _server(door: Door) -> Server | None:
    """The server that this kernel's turns go to; None when they run in here."""
    if door.core is not None or (server := find_server()) is None:
        return None
    try:
        await door.probe(server)
    except Unreachable as reason:
        door.say_embedded(server, reason)
        return None
    return server


async def _get(server: Server, route: str) -> Any:
    from tornado.httpclient import HTTPClientError, HTTPRequest
    from tornado.simple_httpclient import SimpleAsyncHTTPClient

    headers = rest_headers(server)
    if headers is None:
        raise ServerGone(
            _("This Jupyter server has no token, so a kernel may chat with it but not read its lists.")
        )
    request = HTTPRequest(f"{server.url}cashcode/api/{route}", headers=headers, request_timeout=SECONDS)
    client = SimpleAsyncHTTPClient(force_instance=True)
    try:
        answer = await client.fetch(request)
        return json.loads(answer.body)
    except HTTPClientError as error:
        raise of_event(_body(error.response.body if error.response else b"", error.code)) from error
    except (OSError, ValueError) as error:
        raise ServerGone(
            _("The Jupyter server did not answer ({reason}).").format(reason=type(error).__name__)
        ) from error
    finally:
        client.close()


def _body(body: bytes, status: int) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict) and "code" in value:
        return value
    detail = _("The Jupyter server answered with HTTP status {status}.").format(status=status)
    return {"code": "internal", "detail": detail}
