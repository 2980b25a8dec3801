"""Secrets by value: every place where a known secret stands, in each of its spellings, overlaps as one."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from cashcode_jupyter.security.words import tree

MIN_LENGTH = 8
MIN_BASE64 = 12
MASK = "[redacted]"


def spellings(secret: str) -> set[str]:
    """`secret` as it is, in JSON strings (also one inside another), in URLs and inside base64."""
    escaped = json.dumps(secret)[1:-1]
    found = {secret, escaped, json.dumps(escaped)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    data = secret.encode("utf-8", "surrogatepass")
    for encoded in (quote(data, safe=""), quote(data), quote_plus(data)):
        found |= {encoded, _lower_escapes(encoded)}
    return found | _base64_cores(data)


def _lower_escapes(encoded: str) -> str:
    head, *rest = encoded.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])


def _base64_cores(data: bytes) -> set[str]:
    """What base64 makes of `data` wherever it stands in a longer text, e.g. in `user:secret` of Basic auth.

    The first and last characters depend on the neighbours, so they are left out.
    """
    cores = set()
    for lead in range(3):
        text = base64.b64encode(b"\0" * lead + data).decode()
        start = (0, 2, 3)[lead]
        end = len(text) - (0, 3, 2)[(lead + len(data)) % 3]
        if end - start >= MIN_BASE64:
            core = text[start:end]
            cores |= {core, core.replace("+", "-").replace("/", "_")}
    return cores


def begin(literals: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds where a literal may have begun, by its first characters; None without literals."""
    starts = sorted({literal[:MIN_LENGTH] for literal in literals})
    return re.compile(f"{tree(starts)}|{tree(starts, partial=True)}\\Z") if literals else None


class ValueStream:
    """Masks the given literals in text that comes in pieces.

    A piece is final once no literal that begins in it could still be completed by what follows.
    """

    def __init__(self, literals: tuple[str, ...], begun: re.Pattern[str] | None) -> None:
        self._literals = literals
        self._begun = begun
        self._held = ""

    def feed(self, text: str) -> str:
        text = self._held + text
        begun = self._begun.search(text) if self._begun else None
        if begun is None:
            self._held = ""
            return text
        clear, rest = text[: begun.start()], text[begun.start() :]
        if len(rest) < MIN_LENGTH:
            self._held = rest
            return clear
        return clear + self._emit(rest, self._undecided(rest))

    def flush(self, text: str = "") -> str:
        text = self._held + text
        return self._emit(text, len(text))

    def _emit(self, text: str, end: int) -> str:
        """`text` up to `end`, or up to the masked region that `end` falls into; the rest is held."""
        shown: list[str] = []
        at = 0
        for start, stop in self._regions(text):
            if stop > end:
                end = min(end, start)
                break
            shown += (text[at:start], MASK)
            at = stop
        shown.append(text[at:end])
        self._held = text[end:]
        return "".join(shown)

    def _regions(self, text: str) -> list[tuple[int, int]]:
        """Where literals stand, in order, those that overlap joined."""
        found: list[tuple[int, int]] = []
        for literal in self._literals:
            start = text.find(literal)
            while start >= 0:
                found.append((start, start + len(literal)))
                start = text.find(literal, start + 1)
        joined: list[tuple[int, int]] = []
        for start, stop in sorted(found):
            if joined and start < joined[-1][1]:
                joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
            else:
                joined.append((start, stop))
        return joined

    def _undecided(self, text: str) -> int:
        """The first position from which the text could be the beginning of a literal."""
        first = len(text)
        for literal in self._literals:
            at = text.find(literal[0], max(0, len(text) - len(literal) + 1), first)
            while at >= 0:
                if literal.startswith(text[at:]):
                    first = at
                    break
                at = text.find(literal[0], at + 1, first)
        return first
