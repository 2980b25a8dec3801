"""Keeps a conversation inside a small context window by leaving its oldest whole turns out of the request.

Nothing is deleted, the history on disk stays whole. The cut moves rarely and far (from 80 % down to 50 % of the
window), so that most requests still begin with the bytes of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cashcode_jupyter.agent.pictures import MOST, files_of

CHARS_PER_TOKEN = 3.2
FULL, KEPT = 0.8, 0.5
PICTURE_TOKENS = 1600


def estimate_tokens(messages: Sequence[dict[str, Any]], *, sees: bool = True) -> int:
    """A rough count from the characters; only for windows and for servers that send no usage.

    A picture counts the same whatever its size, for a model that `sees`.
    """
    pictures = min(len(files_of(messages)), MOST) if sees else 0
    words = int(sum(_size(message) for message in messages) / CHARS_PER_TOKEN)
    return words + 4 * len(messages) + PICTURE_TOKENS * pictures


def _size(message: dict[str, Any]) -> int:
    content = message.get("content")
    size = len(content) if isinstance(content, str) else len(str(content or ""))
    for call in message.get("tool_calls") or ():
        size += len(call["function"]["name"]) + len(call["function"]["arguments"])
    return size


def first_shown(
    messages: Sequence[dict[str, Any]], window: int | None, current: int, overhead: int, *, sees: bool = True
) -> int:
    """The index of the first message to send; `current` is the index of the last request.

    `overhead` are the tokens of system message and tools, `window` the model's context in tokens or None when it
    is not known. A cut is always before a user message; the last turn is never cut.
    """
    if window is None:
        return current
    if estimate_tokens(messages[current:], sees=sees) + overhead <= window * FULL:
        return current
    starts = [i for i, message in enumerate(messages) if i > current and message["role"] == "user"]
    for start in starts:
        if estimate_tokens(messages[start:], sees=sees) + overhead <= window * KEPT:
            return start
    return starts[-1] if starts else current
