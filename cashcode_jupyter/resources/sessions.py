"""`sessions`: the chats, their messages and whole tool results, renaming and deleting."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.resources.request import BadField, Request

PAGE, LONGEST_PAGE = 50, 500
HITS, MOST_HITS = 5, 20


async def listing(request: Request) -> dict[str, Any]:
    limit = request.number("limit", 1, LONGEST_PAGE) or PAGE
    before = request.query("before")
    core = await request.core()
    rows, following = await core.sessions.listing(limit=limit, before=before)
    return {
        "sessions": [asdict(row) | {"running": core.running(row.chat_id)} for row in rows],
        "next": following,
    }


async def search(request: Request) -> dict[str, Any]:
    """The turns of all chats that hold the words of `q`, best first."""
    query = request.query("q")
    if not query:
        raise BadField(_("q: words to look for are expected"))
    limit = request.number("limit", 1, MOST_HITS) or HITS
    core = await request.core()
    return (await core.search(query, limit=limit)).as_dict()


async def rename(request: Request) -> dict[str, Any]:
    from cashcode_jupyter.resources.bodies import Title

    title = request.read(Title).title
    core = await request.core()
    return await core.sessions.rename(request.params["chat_id"], title)


async def delete(request: Request) -> None:
    core = await request.core()
    await core.delete_chat(request.params["chat_id"])


async def messages(request: Request) -> dict[str, Any]:
    before = request.number("before", 1)
    limit = request.number("limit", 1, LONGEST_PAGE) or PAGE
    core = await request.core()
    chat_id = request.params["chat_id"]
    return {"chat_id": chat_id, "messages": await core.sessions.messages(chat_id, before=before, limit=limit)}


async def result(request: Request) -> dict[str, Any]:
    core = await request.core()
    text, truncated = await core.sessions.result(request.params["chat_id"], request.params["call_id"])
    return {"text": text, "truncated": True} if truncated else {"text": text}
