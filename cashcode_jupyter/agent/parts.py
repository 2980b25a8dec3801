"""What turns are made of: the parts that all of them share, and what is fixed for each chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.agent.render import Rendering
from cashcode_jupyter.agent.schemas import Schemas
from cashcode_jupyter.llm.client import Models
from cashcode_jupyter.memory.chat import ChatLog
from cashcode_jupyter.memory.longterm import LongTerm, Persona
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.tools.base import Toolset


@dataclass(frozen=True)
class Parts:
    """What every turn works with; `app.py` builds it once."""

    bus: Bus
    models: Models
    tools: Toolset
    schemas: Schemas
    memory: LongTerm
    persona: Persona
    redactor: Redactor
    learn_secrets: Callable[[], None]
    workspace: Path
    max_iterations: int


@dataclass
class ChatView:
    """What is fixed for a chat while this process has it: its system message and where its window begins."""

    system: str | None = None
    first_shown: int = 0
    log: ChatLog | None = None
    rendering: Rendering = field(default_factory=Rendering)

    def follow(self, chat: ChatLog) -> None:
        """A chat that was loaded anew has other messages, so the window begins at its first."""
        if self.log is not chat:
            self.log, self.first_shown = chat, 0
