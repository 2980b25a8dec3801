"""REST as Jupyter serves it: a handler for each row of the table in `resources`, the same on every port."""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.resources import routes as table
from cashcode_jupyter.server.handlers import export
from cashcode_jupyter.server.handlers.resource import Resource, handler
from cashcode_jupyter.server.handlers.unknown import Unknown

ROUTES: tuple[tuple[str, type[Resource]], ...] = (
    *((route.path, handler(route)) for route in table.ROUTES),
    (export.PATH, export.Export),
)


def routes(prefix: str, ours: str) -> list[tuple[str, type[Resource], dict[str, Any]]]:
    """Tornado's rows for all routes under `prefix`, and for every other path that matches `ours`: `not_found`."""
    rows: list[tuple[str, type[Resource], dict[str, Any]]] = [
        (f"{prefix}{table.pattern(path)}", handler, {"route": path}) for path, handler in ROUTES
    ]
    return [*rows, (ours, Unknown, {"route": "unknown"})]
