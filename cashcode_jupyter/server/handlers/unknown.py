"""Everything under our prefix that is no route: 404 as JSON, after the same checks as everywhere."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import NotFound
from cashcode_jupyter.server.handlers.resource import Resource


class Unknown(Resource):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        raise NotFound(_("There is nothing at this address."))

    # A decorated method remembers the permission it asked for first, so reading and writing are two.
    @web.authenticated
    @authorized
    async def post(self) -> None:
        raise NotFound(_("There is nothing at this address."))

    head = get
    put = patch = delete = post
