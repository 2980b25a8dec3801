"""Takes secrets out of text: first every configured one by its value, then what looks like one.

Rule: whole and streamed text go through the same code, so a secret that is split over chunks is treated as if it
had come in one piece. Values shorter than 8 characters are ignored, they would shred ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from cashcode_jupyter.security.patterns import PatternStream, may_hold_secrets
from cashcode_jupyter.security.values import MIN_LENGTH, ValueStream, begin, spellings


class Redactor:
    """Call it with a text to get the text without secrets. Safe to call from any thread."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[tuple[str, ...], re.Pattern[str] | None] = ((), None)
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Know these secrets as well, in all the spellings that they may turn up in."""
        found = set(self._known[0])
        for secret in secrets:
            if len(secret.strip()) >= MIN_LENGTH:
                found |= spellings(secret.strip())
        values = tuple(sorted(found))
        self._known = (values, begin(values))

    def __call__(self, text: str) -> str:
        text = self.known(text)
        if not may_hold_secrets(text):
            return text
        return PatternStream().flush(text)

    def known(self, text: str) -> str:
        """Takes out the configured secrets only: for what is read again as code or data and must stay as it was."""
        return ValueStream(*self._known).flush(text)

    def value(self, value: Any) -> Any:
        """The same JSON value with every text in it redacted; keys stay."""
        return _mapped(self, value)

    def known_value(self, value: Any) -> Any:
        """As `value`, but as `known`."""
        return _mapped(self.known, value)

    def stream(self) -> RedactedStream:
        """For text that comes in pieces; knows the secrets of this moment."""
        return RedactedStream(ValueStream(*self._known))


def _mapped(redact: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _mapped(redact, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(redact, item) for item in value]
    return value


class RedactedStream:
    """`feed` gives what is safe to show so far, `flush` the rest. Only what may be the start of a secret waits."""

    def __init__(self, values: ValueStream) -> None:
        self._values = values
        self._patterns = PatternStream()

    def feed(self, text: str) -> str:
        return self._patterns.feed(self._values.feed(text))

    def flush(self) -> str:
        return self._patterns.flush(self._values.flush())
