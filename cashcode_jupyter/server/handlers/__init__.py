"""REST: one file a resource. The table below is the only place where an address meets its handler."""

from __future__ import annotations

import re
from typing import Any

from cashcode_jupyter.server.handlers.approvals import Approvals
from cashcode_jupyter.server.handlers.health import Health
from cashcode_jupyter.server.handlers.llm import LlmModels, LlmSettings, LlmTest
from cashcode_jupyter.server.handlers.memory import Memory
from cashcode_jupyter.server.handlers.persona import Persona
from cashcode_jupyter.server.handlers.resource import Resource
from cashcode_jupyter.server.handlers.sessions import Messages, Session, Sessions
from cashcode_jupyter.server.handlers.unknown import Unknown

ROUTES: tuple[tuple[str, type[Resource]], ...] = (
    ("health", Health),
    ("sessions", Sessions),
    ("sessions/{chat_id}", Session),
    ("sessions/{chat_id}/messages", Messages),
    ("settings/llm", LlmSettings),
    ("settings/llm/test", LlmTest),
    ("settings/llm/models", LlmModels),
    ("settings/approvals", Approvals),
    ("memory", Memory),
    ("persona", Persona),
)
# Browsers encode the colon of a chat id; nothing else of its grammar is ever encoded.
SEGMENTS = {"chat_id": r"(?P<chat_id>(?:[A-Za-z0-9_:-]|%3[Aa]){1,64})"}


def pattern(route: str) -> str:
    """The regular expression of a route's path, e.g. of `sessions/{chat_id}`."""
    return re.sub(r"\{(\w+)\}", lambda name: SEGMENTS[name[1]], route)


def routes(prefix: str, ours: str) -> list[tuple[str, type[Resource], dict[str, Any]]]:
    """Tornado's rows for all routes under `prefix`, and for every other path that matches `ours`: `not_found`."""
    rows: list[tuple[str, type[Resource], dict[str, Any]]] = [
        (f"{prefix}{pattern(route)}", handler, {"route": route}) for route, handler in ROUTES
    ]
    return [*rows, (ours, Unknown, {"route": "unknown"})]
