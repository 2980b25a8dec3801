"""The tools as the model is told of them, made once for as long as they are the same tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cashcode_jupyter.tools.base import ToolSpec


class Schemas:
    """Remembers the last answer: tools rarely change, and a request repeats them each time."""

    def __init__(self) -> None:
        self._specs: Sequence[ToolSpec] = ()
        self._schemas: tuple[dict[str, Any], ...] = ()

    def of(self, specs: Sequence[ToolSpec]) -> tuple[dict[str, Any], ...]:
        """The entries of the OpenAI `tools` list; the same object for the same specs."""
        known = len(specs) == len(self._specs) and all(a is b for a, b in zip(specs, self._specs, strict=True))
        if not known:
            self._specs = specs
            self._schemas = tuple(spec.schema() for spec in specs)
        return self._schemas
