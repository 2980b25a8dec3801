"""The base of all REST handlers: reading a request, so that a handler holds nothing but its calls to the core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.base.handlers import APIHandler

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadFrame, NotFound
from cashcode_jupyter.server.access import JupyterAccess

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.server.bodies import Body

    B = TypeVar("B", bound=Body)
else:
    B = TypeVar("B")

MAX_BODY = 8 << 20


class BodyTooLarge(BadFrame):
    status = 413


class BadField(BadFrame):
    """A field or parameter that is missing, unknown or of the wrong kind."""

    status = 422


class Resource(JupyterAccess, APIHandler):
    auth_resource = "cashcode"

    async def prepare(self) -> None:
        await super().prepare()
        if "chat_id" in self.path_kwargs:
            from cashcode_jupyter.protocol.actions import valid_chat_id

            if not valid_chat_id(self.path_kwargs["chat_id"]):
                raise NotFound(_("There is nothing at this address."))

    async def core(self) -> CashCode:
        return await self.door.core()

    def json_object(self) -> dict[str, Any]:
        """The body; `BadFrame` when it is no JSON object."""
        if len(self.request.body) > MAX_BODY:
            raise BodyTooLarge(_("The body is too large; at most 8 MiB are taken."))
        try:
            value = json.loads(self.request.body)
            json.dumps(value, ensure_ascii=False).encode()  # an escaped lone surrogate is no text
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise BadFrame(_("The body must be a JSON object of valid Unicode text."))
        return value

    def read(self, model: type[B]) -> B:
        """The body as `model`; unknown and wrong fields are a `BadField` that names the first one."""
        from pydantic import ValidationError

        from cashcode_jupyter.protocol.actions import first_problem

        value = self.json_object()
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise BadField(first_problem(error)) from None

    def number(self, name: str, low: int, high: int | None = None) -> int | None:
        """The query parameter `name` as a whole number in range, None when it is not given."""
        text = self.get_query_argument(name, None)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 18):
            raise BadField(_("{name}: a whole number is expected").format(name=name))
        value = int(text)
        if value < low or (high is not None and value > high):
            raise BadField(
                _("{name}: a number from {low} to {high} is expected").format(name=name, low=low, high=high or "…")
            )
        return value
