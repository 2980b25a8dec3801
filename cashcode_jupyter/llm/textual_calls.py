"""Tool calls that a model writes as text: `<tool_call>{"name": …, "arguments": …}</tool_call>` (Qwen, Hermes).

One rule: nothing the model wrote is lost. What stands between the tags is held back while it streams; it becomes
a call only if it is one, of a tool that was offered, and no native call came. Otherwise it is given as text after
all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from cashcode_jupyter.llm.tags import tail

OPEN, CLOSE = "<tool_call>", "</tool_call>"


class TextualCalls:
    """Text goes in by `feed`, visible text comes out by `on_text`, `flush` gives `(name, arguments)` pairs."""

    def __init__(self, on_text: Callable[[str], None], names: Collection[str]) -> None:
        self._on_text = on_text
        self._names = names
        self._inside = False
        self._held: list[str] = []
        self._after_call = False
        self._gap = ""  # white space right behind a call: dropped when the next call or the end follows
        self._found: list[tuple[str, str, str]] = []

    def feed(self, piece: str) -> None:
        if self._inside and ">" not in piece:
            self._held.append(piece)
            return
        if not self._inside and not self._held and not self._after_call and "<" not in piece:
            self._on_text(piece)
            return
        text = "".join((*self._held, piece))
        self._held = []
        while text:
            text = self._read_call(text) if self._inside else self._read_text(text)

    def flush(self, *, native: bool, whole: bool) -> list[tuple[str, str]]:
        """The stream has ended. `native`: these are no calls, because calls came in their own field;
        `whole`: it was not cut.
        """
        held = "".join(self._held)
        self._held = []
        inside, self._inside = self._inside, False
        if inside:
            # The closing tag is a stop token for some servers, and then never sent.
            if not (whole and self._keep(held, held)):
                self._show(OPEN + held)
        elif held:
            self._show(held)
        found, self._found = self._found, []
        if native:
            for _name, _arguments, raw in found:
                self._on_text(raw)
            return []
        return [(name, arguments) for name, arguments, _raw in found]

    def _read_text(self, text: str) -> str:
        at = text.find(OPEN)
        if at < 0:
            keep = tail(text, OPEN)
            self._show(text[: len(text) - keep])
            self._held = [text[len(text) - keep :]] if keep else []
            return ""
        self._show(text[:at])
        self._inside = True
        return text[at + len(OPEN) :]

    def _read_call(self, text: str) -> str:
        at = text.find(CLOSE)
        if at < 0:
            self._held = [text]
            return ""
        body = text[:at]
        self._inside = False
        if not self._keep(body, body + CLOSE):
            self._show(OPEN + body + CLOSE)
        return text[at + len(CLOSE) :]

    def _keep(self, body: str, raw: str) -> bool:
        call = parse_call(body, self._names)
        if call is None:
            return False
        self._found.append((*call, self._gap + OPEN + raw))
        self._gap = ""
        self._after_call = True
        return True

    def _show(self, text: str) -> None:
        text, self._gap = self._gap + text, ""
        if self._after_call and not text.strip():
            self._gap = text
        elif text:
            self._after_call = False
            self._on_text(text)


def parse_call(body: str, names: Collection[str]) -> tuple[str, str] | None:
    """`(name, arguments as JSON text)` of one call's body, None when it is no call of a known tool."""
    try:
        value: Any = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name = value.get("name")
    if not isinstance(name, str) or name not in names:
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    if isinstance(arguments, str):
        return name, arguments
    if arguments is None:
        return name, "{}"
    return name, json.dumps(arguments, ensure_ascii=False)
