"""A request as a resource sees it, whichever door it came through: nothing of it is read before it is needed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadFrame

if TYPE_CHECKING:
    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.resources.bodies import Body

    B = TypeVar("B", bound=Body)
else:
    B = TypeVar("B")

CoreSource = Callable[[], Awaitable["CashCode"]]


class BadField(BadFrame):
    """A field or parameter that is missing, unknown or of the wrong kind."""

    status = 422


@dataclass(frozen=True, kw_only=True)
class Request:
    """`core` starts the agent where it does not run yet, so a wrong request never starts it.

    `params` are the checked segments of the address, `query` gives a parameter's text or None, `body` the JSON
    value that came (None for one that cannot be read). `facts` are what the door adds to `health`.
    """

    core: CoreSource
    params: Mapping[str, str]
    query: Callable[[str], str | None]
    body: Callable[[], object]
    facts: Mapping[str, object] = field(default_factory=dict)

    def json_object(self) -> dict[str, Any]:
        """The body; `BadFrame` when it is no JSON object of valid text."""
        value = self.body()
        try:
            json.dumps(value, ensure_ascii=False).encode()  # an escaped lone surrogate is no text
        except (ValueError, TypeError, RecursionError):
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
        text = self.query(name)
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
