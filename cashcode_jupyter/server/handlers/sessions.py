"""`sessions`: the chats, their messages, renaming and deleting."""

from __future__ import annotations

from dataclasses import asdict

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.server.handlers.resource import Resource

PAGE, LONGEST_PAGE = 50, 500


class Sessions(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        limit = self.number("limit", 1, LONGEST_PAGE) or PAGE
        before = self.get_query_argument("before", None)
        core = await self.core()
        rows, following = await core.sessions.listing(limit=limit, before=before)
        self.answer(
            {
                "sessions": [asdict(row) | {"running": core.running(row.chat_id)} for row in rows],
                "next": following,
            }
        )


class Session(Resource):
    @web.authenticated
    @authorized
    async def patch(self, chat_id: str) -> None:
        from cashcode_jupyter.server.bodies import Title

        title = self.read(Title).title
        core = await self.core()
        self.answer(await core.sessions.rename(chat_id, title))

    @web.authenticated
    @authorized
    async def delete(self, chat_id: str) -> None:
        core = await self.core()
        await core.delete_chat(chat_id)
        self.set_status(204)
        self.finish()


class Messages(Resource):
    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        before = self.number("before", 1)
        limit = self.number("limit", 1, LONGEST_PAGE) or PAGE
        core = await self.core()
        messages = await core.sessions.messages(chat_id, before=before, limit=limit)
        self.answer({"chat_id": chat_id, "messages": messages})
