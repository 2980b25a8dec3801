"""The handlers of `resources`: who may come in and how a body is read is decided here, what is answered there."""

from __future__ import annotations

import json
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadFrame
from cashcode_jupyter.resources.answer import call
from cashcode_jupyter.resources.request import Request
from cashcode_jupyter.resources.routes import Route
from cashcode_jupyter.server.access import JupyterAccess

MAX_BODY = 8 << 20


class BodyTooLarge(BadFrame):
    status = 413


class Resource(JupyterAccess, APIHandler):
    auth_resource = "cashcode"

    async def reply(self, route: Route, params: dict[str, str]) -> None:
        request = Request(
            core=self.door.core,
            params=params,
            query=lambda name: self.get_query_argument(name, None),
            body=self.json,
            facts=self.door.facts,
        )
        found = await call(route, self.request.method or "", request)
        self.set_status(found.status)
        self.finish() if found.body is None else self.answer(found.body)

    def json(self) -> object:
        """The body's value, None when there is none; `BodyTooLarge`."""
        if len(self.request.body) > MAX_BODY:
            raise BodyTooLarge(_("The body is too large; at most 8 MiB are taken."))
        try:
            return json.loads(self.request.body)
        except (ValueError, RecursionError):
            return None


def handler(route: Route) -> type[Resource]:
    """The handler class of a row of the table, with a method for each of the row's."""
    name = "".join(word.strip("{}").title() for word in route.path.replace("/", "_").split("_"))
    return type(name, (Resource,), {method.lower(): _method(route) for method in route.calls})


def _method(route: Route) -> Any:
    """Decorated anew for each method: a decorated one remembers the permission that it asked for first."""

    @web.authenticated
    @authorized
    async def reply(self: Resource, **params: str) -> None:
        await self.reply(route, params)

    return reply
