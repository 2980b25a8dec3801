"""The table of all addresses: the only place where one meets what answers it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from cashcode_jupyter.resources import approvals, documents, health, llm, sessions
from cashcode_jupyter.resources.request import Request

Call = Callable[[Request], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True)
class Route:
    """An address like `sessions/{chat_id}` and its methods; None as an answer is a 204.

    `for_panels` says that a panel in a cell's output may use it through the kernel.
    """

    path: str
    calls: Mapping[str, Call]
    for_panels: bool = True


ROUTES = (
    Route("health", {"GET": health.read}),
    Route("sessions", {"GET": sessions.listing}),
    Route("sessions/search", {"GET": sessions.search}),
    Route("sessions/{chat_id}", {"PATCH": sessions.rename, "DELETE": sessions.delete}),
    Route("sessions/{chat_id}/messages", {"GET": sessions.messages}),
    Route("sessions/{chat_id}/results/{call_id}", {"GET": sessions.result}),
    Route("settings/llm", {"GET": llm.read, "PUT": llm.update}),
    Route("settings/llm/test", {"POST": llm.test}),
    Route("settings/llm/models", {"GET": llm.models}),
    Route("settings/approvals", {"GET": approvals.read, "PUT": approvals.update}),
    Route("memory", {"GET": documents.read_memory, "PUT": documents.write_memory}, for_panels=False),
    Route("persona", {"GET": documents.read_persona, "PUT": documents.write_persona}),
)
SEGMENTS = {
    # Browsers encode the colon of an id; nothing else of these grammars is ever encoded.
    "chat_id": r"(?P<chat_id>(?:[A-Za-z0-9_:-]|%3[Aa]){1,64})",
    "call_id": r"(?P<call_id>[A-Za-z0-9_-](?:[A-Za-z0-9_.:-]|%3[Aa]){0,127})",
}


def pattern(path: str) -> str:
    """The regular expression of a route's path, e.g. of `sessions/{chat_id}`."""
    return re.sub(r"\{(\w+)\}", lambda name: SEGMENTS[name[1]], path)


def find(path: str) -> tuple[Route, dict[str, str]] | None:
    """The route of an address as a client writes it, and the segments that vary; None when there is none."""
    for route in ROUTES:
        if found := re.fullmatch(pattern(route.path), path):
            return route, {name: unquote(value) for name, value in found.groupdict().items()}
    return None
