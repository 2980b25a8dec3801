"""How long a server asks us to wait: `retry-after-ms`, `Retry-After` (seconds or a date), or its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_WORDS = re.compile(r"(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|s\b|sec)", re.IGNORECASE)


def retry_after(headers: Mapping[str, str], message: str = "") -> float | None:
    """Seconds from now, never negative; None when the server does not say."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if value := headers.get(name, "").strip():
            try:
                return _seconds(float(value) / scale)
            except ValueError:
                if (seconds := _until(value)) is not None:
                    return seconds
    if found := _WORDS.search(message):
        return _seconds(float(found[1]) / (1000.0 if found[2] == "ms" else 1.0))
    return None


def _seconds(value: float) -> float | None:
    return value if 0 <= value < 10**9 else 0.0 if value < 0 else None


def _until(date: str) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
