"""Several toolsets as one. The first that has a name keeps it, so that nothing added later can take it over."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from cashcode_jupyter.tools.base import CallContext, ToolOutcome, Toolset, ToolSpec, UnknownTool


class CombinedToolset(Toolset):
    """The tools of all `toolsets`, in their order; asked anew each time, as a toolset may change."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self._toolsets = tuple(toolsets)

    def specs(self) -> Sequence[ToolSpec]:
        found: dict[str, ToolSpec] = {}
        for toolset in self._toolsets:
            for spec in toolset.specs():
                found.setdefault(spec.name, spec)
        return tuple(found.values())

    def spec(self, name: str) -> ToolSpec | None:
        owner = self._owner(name)
        return owner.spec(name) if owner else None

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        owner = self._owner(name)
        if owner is None:
            raise UnknownTool(name, closest_names(name, (spec.name for spec in self.specs())))
        return await owner.call(name, arguments, ctx)

    def _owner(self, name: str) -> Toolset | None:
        return next((toolset for toolset in self._toolsets if toolset.spec(name) is not None), None)


def closest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The `count` names most like `name`, best first; fewer when nothing is like it."""
    by_folded = {other.lower(): other for other in known}
    matches = difflib.get_close_matches(name[:100].lower(), by_folded, n=count, cutoff=0.3)
    return [by_folded[match] for match in matches]
