"""Where a command speaks: the answer on standard output, everything about it on standard error.

With `json` each line of both is one JSON object, so a program can read either.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Console:
    """Standard output and standard error of one command."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self._dims = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        self._at_line_start = True

    def write(self, text: str) -> None:
        """Text of an answer as it comes. Blocks while the reader is slow."""
        self._put(sys.stdout.buffer, text.encode("utf-8", "replace"))
        if text:
            self._at_line_start = text.endswith("\n")

    def end_line(self) -> None:
        """End the line of an answer that did not end it itself."""
        if not self._at_line_start:
            self.write("\n")

    def record(self, value: bytes | dict[str, Any]) -> None:
        """One JSON object as a line of standard output."""
        self._put(sys.stdout.buffer, _encoded(value) + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Whole lines of standard output that are encoded already."""
        self._put(sys.stdout.buffer, data)

    def aside(self, text: str) -> None:
        """A remark for people on standard error, dim where that can be shown; not shown with `json`."""
        if not self.json:
            self._say(f"{DIM}{text}{PLAIN}" if self._dims else text)

    def progress(self, text: str) -> None:
        """A remark that replaces the one before it, only where it can."""
        if not self.json and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def end_progress(self) -> None:
        """Wipe the last `progress`."""
        self.progress("")

    def problem(self, error: CashCodeError) -> None:
        """What went wrong and what to do."""
        if self.json:
            self._put(sys.stderr.buffer, _encoded({"event": "error", **error.as_dict()}) + b"\n")
        else:
            self.failure(error.code, error.detail)

    def failure(self, code: str, detail: str) -> None:
        """The same for people only: the sentence, then a hint that fits its code."""
        self._say(detail)
        if hint := hint_for(code, detail):
            self.aside(hint)

    def _say(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def _put(self, stream: BinaryIO, data: bytes) -> None:
        stream.write(data)
        stream.flush()


def _encoded(value: bytes | dict[str, Any]) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def hint_for(code: str, detail: str) -> str:
    """What a person at a terminal can do about it; empty where the sentence says so or nothing is known."""
    if code == "llm_not_configured":
        return "" if "cashcode starter" in detail else _("Get a small local model with: cashcode starter")
    if code.startswith("llm_") or code in ("storage", "read_only", "internal"):
        return "" if "cashcode doctor" in detail else _("To see what is wrong, run: cashcode doctor")
    return ""
