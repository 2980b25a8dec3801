"""Finding a tag in text that comes in pieces: what at the end of a piece may still become the tag."""

from __future__ import annotations


def may_become(text: str, tag: str) -> bool:
    """Whether the whole of `text` is the start of `tag`; the empty text is."""
    return len(text) < len(tag) and tag.startswith(text)


def tail(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the start of `tag`, which begins with its only `<`."""
    at = text.rfind("<", -len(tag) + 1)
    return len(text) - at if at >= 0 and tag.startswith(text[at:]) else 0
