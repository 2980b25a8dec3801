"""The bytes of a chat's messages, request after request: what cannot change any more is rendered once.

`Rendering` gives what `wire.encode(wire.outgoing(...))` gives, pictures put in, for a history without system
messages that only grows. So a request costs its last turn, however long the chat is.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from cashcode_jupyter.agent import pictures, wire
from cashcode_jupyter.llm.profiles import Profile

Message = dict[str, Any]


class Rendering:
    """Keeps the settled beginning of one history. It starts anew when anything but the end of it differs."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._settled = 0
        self._bytes: list[bytes] = []
        self._used: set[str] = set()
        self._pictures = 0

    def render(
        self,
        system: str,
        messages: Sequence[Message],
        first: int,
        profile: Profile,
        note: str = "",
        gallery: pictures.Gallery = MappingProxyType({}),
    ) -> bytes:
        """The JSON array of `system`, `messages[first:]` and a last user message `note`, if there is one.

        `gallery` has the bytes of the pictures that may go out.
        """
        return pictures.filled(self._placed(system, messages, first, profile, note, gallery), gallery)

    def _placed(
        self,
        system: str,
        messages: Sequence[Message],
        first: int,
        profile: Profile,
        note: str,
        gallery: pictures.Gallery,
    ) -> bytes:
        """The array with placeholders for the pictures."""
        chosen = pictures.shown(messages[first:], profile, gallery)
        key = (id(messages), system, first, profile, chosen)
        if key != self._key:
            self._key, self._settled, self._bytes, self._used = key, first, [], set()
            self._pictures = 0
        boundary = _boundary(messages, self._settled)
        if boundary > self._settled:
            chunk = messages[self._settled : boundary]
            legal = wire.legal(pictures.told(chunk, chosen, self._pictures), self._used)
            self._bytes.append(wire.encode([wire.dress(message, profile) for message in legal])[1:-1])
            self._settled = boundary
            self._pictures += len(pictures.files_of(chunk))
        tail = [*messages[self._settled :], *([{"role": "user", "content": note}] if note else [])]
        opening = [{"role": "system", "content": system}]
        if not self._bytes:
            return wire.encode(wire.outgoing([*opening, *tail], profile, gallery))
        legal = wire.legal(pictures.told(tail, chosen, self._pictures), set(self._used))
        if not legal:
            return wire.encode(wire.outgoing([*opening, *messages[first:]], profile, gallery))
        end = wire.ended(legal)
        head = wire.encode([{"role": "system", "content": wire.mend(system)}])[:-1]
        last = wire.encode([wire.dress(message, profile) for message in end])[1:]
        return b",".join([head, *self._bytes, last])


def _boundary(messages: Sequence[Message], settled: int) -> int:
    """Where the history is settled: before the last user message that follows an answer with no call open.

    Nothing that comes later joins, answers or renames what stands before it.
    """
    for position in range(len(messages) - 1, settled, -1):
        if _asks(messages[position]) and _closes(messages[position - 1]):
            chunk = messages[settled:position]
            return position if _asks(chunk[0]) and _all_answered(chunk) else settled
    return settled


def _closes(message: Message) -> bool:
    content = message.get("content")
    return (
        message.get("role") == "assistant"
        and not message.get("tool_calls")
        and isinstance(content, str)
        and bool(content.strip())
    )


def _asks(message: Message) -> bool:
    content = message.get("content")
    return message.get("role") == "user" and isinstance(content, str) and bool(content.strip())


def _all_answered(chunk: Sequence[Message]) -> bool:
    called = {str(call.get("id")) for message in chunk for call in message.get("tool_calls") or ()}
    answered = {str(message.get("tool_call_id")) for message in chunk if message.get("role") == "tool"}
    return called <= answered and all(message.get("role") in ("user", "assistant", "tool") for message in chunk)
