"""Every quirk of the servers that call themselves OpenAI-compatible, by name (`quirk=NAME` in a directive)."""

from __future__ import annotations

from cashcode_jupyter.testing.quirks import bodies, calls, content, events, framing, pictures, refusals, timing
from cashcode_jupyter.testing.quirks.registry import QUIRKS, Asked, Quirk, Response, resolve

__all__ = ["QUIRKS", "Asked", "Quirk", "Response", "resolve"]

# Importing a module declares its quirks.
_DECLARED = (bodies, calls, content, events, framing, pictures, refusals, timing)
