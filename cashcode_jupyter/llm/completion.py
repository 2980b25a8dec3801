"""What one model request gives back."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ToolCallDraft:
    """One tool call as the model sent it. `complete` False: it was cut off on its way and must never be run."""

    id: str
    name: str
    arguments: str
    complete: bool


@dataclass
class Completion:
    """The whole answer. `text` is what `on_text` was given; `cut` when it ended at the token limit."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCallDraft] = field(default_factory=list)
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cut: bool = False
