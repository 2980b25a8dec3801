"""`GET sessions/{chat_id}/export?format=`: a chat as a file. It is streamed, so it is no row of `resources`."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from cashcode_jupyter.server.handlers.resource import Resource

PATH = "sessions/{chat_id}/export"
USUAL = "ipynb"


class Export(Resource):
    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        core = await self.door.core()
        export = await core.export(chat_id, self.get_query_argument("format", USUAL))
        self.set_header("Content-Type", export.media_type)
        self.set_header("Content-Disposition", f'attachment; filename="{export.file_name}"')
        # The file holds what a model said; no browser shall take it for a page of this server.
        self.set_header("X-Content-Type-Options", "nosniff")
        try:
            async for piece in export.stream():
                self.write(piece)
                await self.flush()
        except StreamClosedError:
            return  # nobody reads any more
        self.finish()
