"""The one interface of tools. A behaviour (approval, shaping, a time limit) is a wrapper over it.

Rule: a failure that the model should read and can act on is a `ToolProblem`; everything else is a defect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cashcode_jupyter.protocol.events import Risk


class ToolProblem(Exception):
    """A call that failed; `text` tells the model, in plain English, what happened and what to do instead."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class UnknownTool(ToolProblem):
    """No tool has this name; `closest` are up to three that are spelled much like it."""

    def __init__(self, name: str, closest: Sequence[str] = ()) -> None:
        hint = f" Did you mean {', '.join(closest)}?" if closest else ""
        super().__init__(f"There is no tool named {name[:100]!r}.{hint}")
        self.name = name
        self.closest = tuple(closest)


@dataclass(frozen=True)
class ToolSpec:
    """What a tool is called, takes and risks.

    `parameters` is the JSON Schema of its arguments (an object without additional properties), `arguments` the
    pydantic model behind it when the tool is ours. `parallel` says that it may run beside other calls; left out,
    that is so for read risk. `timeout` is in seconds. `preview` builds what a person sees when asked to approve.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    risk: Risk = "read"
    parallel: bool | None = None
    timeout: float = 120.0
    preview: Callable[[dict[str, Any]], str] | None = None
    arguments: type[BaseModel] | None = None

    def __post_init__(self) -> None:
        if self.parallel is None:
            object.__setattr__(self, "parallel", self.risk == "read")

    def schema(self) -> dict[str, Any]:
        """The entry of the OpenAI `tools` list."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class CallContext:
    """Where a call belongs: its chat and turn, the folder that file tools work in, the chat's spill folder."""

    chat_id: str
    turn_id: str
    call_id: str
    workspace: Path
    results: Path


@dataclass(frozen=True)
class ToolOutcome:
    """What a call gave. `text` is for the model, `preview` (short) for people.

    `truncated` and `spill` are filled by the shaping wrapper; `bounded` tells it that the tool has already paged
    its text, which then stays as it is.
    """

    ok: bool
    text: str
    preview: str = ""
    truncated: bool = False
    spill: str | None = None
    bounded: bool = False


class Toolset(ABC):
    """Some tools."""

    @abstractmethod
    def specs(self) -> Sequence[ToolSpec]:
        """The tools on offer now, in a stable order."""

    def spec(self, name: str) -> ToolSpec | None:
        """The tool of this name, if it is on offer."""
        return next((spec for spec in self.specs() if spec.name == name), None)

    @abstractmethod
    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        """Run one tool; raises `ToolProblem`, `UnknownTool` among them. Cancelling the task ends the work."""


class WrapperToolset(Toolset):
    """Passes everything on to `inner`; a behaviour overrides what it changes."""

    def __init__(self, inner: Toolset) -> None:
        self.inner = inner

    def specs(self) -> Sequence[ToolSpec]:
        return self.inner.specs()

    def spec(self, name: str) -> ToolSpec | None:
        return self.inner.spec(name)

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        return await self.inner.call(name, arguments, ctx)
