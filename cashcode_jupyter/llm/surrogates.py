"""Text that UTF-8 can hold: the two halves of a surrogate pair are joined, lone ones replaced."""

from __future__ import annotations


def mend(text: str) -> str:
    """`text` without lone surrogates: pairs become their character, the rest U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class SurrogateJoiner:
    """`mend` for a text that comes in pieces; any cut of the same text gives the same whole."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, piece: str) -> str:
        if self._high:
            piece, self._high = self._high + piece, ""
        if piece.isascii():
            return piece
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._high = piece[:-1], piece[-1]
        return mend(piece)

    def flush(self) -> str:
        held, self._high = self._high, ""
        return mend(held)
