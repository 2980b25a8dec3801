"""Tool calls that come in deltas, put together whatever the server does with `index`, `id` and `name`.

One rule decides to which call a delta belongs: its id, else its index, else the last call; but whole arguments are
never added to, and another id or a name with more arguments begins a new call.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from cashcode_jupyter.llm.completion import ToolCallDraft
from cashcode_jupyter.llm.surrogates import mend


@dataclass
class _Slot:
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object already."""
        if not self.parts or not self.parts[-1].rstrip().endswith("}"):
            return False
        return isinstance(_parsed(self.arguments), dict)


class CallSlots:
    """Feed it each entry of `tool_calls`; `drafts` gives the calls in the order in which they began."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_id: dict[str, _Slot] = {}
        self._by_index: dict[int, _Slot] = {}

    def __bool__(self) -> bool:
        return any(slot.name for slot in self._slots)

    @property
    def nameless(self) -> bool:
        """Whether a call came without a name, which nobody can run."""
        return any(not slot.name for slot in self._slots)

    def feed(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            return
        function = entry.get("function")
        if not isinstance(function, dict):
            function = {}
        call_id, index, name = entry.get("id"), entry.get("index"), function.get("name")
        call_id = call_id if isinstance(call_id, str) else ""
        index = index if isinstance(index, int) else None
        name = name if isinstance(name, str) else ""
        arguments = _text(function.get("arguments"))
        slot = self._slot(call_id, index, name, arguments)
        if call_id and not slot.id:
            slot.id = call_id
        if call_id:
            self._by_id[call_id] = slot
        if index is not None:
            self._by_index[index] = slot
        if name and not slot.parts:
            _extend_name(slot, name)
        if arguments and (slot.parts or arguments.strip()):
            slot.parts.append(arguments)

    def _slot(self, call_id: str, index: int | None, name: str, arguments: str) -> _Slot:
        another = bool(name and arguments.strip())
        if call_id and (slot := self._by_id.get(call_id)):
            if not (another and slot.is_whole()):
                return slot
        elif index is not None and (slot := self._by_index.get(index)):
            other_id = bool(call_id and slot.id and call_id != slot.id)
            if not other_id and not (another and slot.is_whole()):
                return slot
        elif index is None and not call_id and not name and self._slots:
            return self._slots[-1]
        slot = _Slot()
        self._slots.append(slot)
        return slot

    def drafts(self, *, cut: bool) -> list[ToolCallDraft]:
        """The calls. `cut`: the answer ended at the token limit, so the last call may be half."""
        named = [slot for slot in self._slots if slot.name]
        taken: set[str] = set()
        drafts = []
        for slot in named:
            call_id = slot.id.strip()
            if not call_id or call_id in taken:
                call_id = new_call_id()
            taken.add(call_id)
            arguments = mend(slot.arguments)
            last_of_cut = cut and slot is named[-1]
            complete = is_terminated(arguments) and not (last_of_cut and _parsed(arguments) is None)
            drafts.append(ToolCallDraft(call_id, slot.name, arguments.strip() or "{}", complete))
        return drafts


def new_call_id() -> str:
    """An id of nine letters and digits, which also Mistral's API accepts."""
    return secrets.token_hex(5)[:9]


def is_terminated(arguments: str) -> bool:
    """Whether the text may be whole: every string and bracket in it is closed. An empty one may be."""
    if _parsed(arguments) is not None:
        return True
    depth, quoted, escaped = 0, False, False
    for sign in arguments:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = quoted
        elif sign == '"':
            quoted = not quoted
        elif not quoted and sign in "{[":
            depth += 1
        elif not quoted and sign in "}]":
            depth -= 1
    return not quoted and depth <= 0


def _extend_name(slot: _Slot, name: str) -> None:
    if slot.name == name:
        return  # some servers repeat it with every delta
    slot.name = name if name.startswith(slot.name) else slot.name + name


def _text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    return json.dumps(arguments, ensure_ascii=False)  # litellm sends the object itself


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return None
