"""A found turn as people and models read it: a snippet with the words, and the turns around it.

Everything is read from the history itself and passes the redactor before it is cut, so no cut makes half a secret
unknown to it. Bounded: a hit costs the same whatever was said in its turns.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from cashcode_jupyter.memory.recall_index import Turn
from cashcode_jupyter.memory.recall_turns import Said, said_in
from cashcode_jupyter.storage.forwards import Line, open_plain, read_forwards

SNIPPET = 240
SHOWN = 600
# The longest secret that a cut may go through and that is still known as one.
MARGIN = 1024
MAX_READ = 256 << 10
MAX_PLACES = 40
Redact = Callable[[str], str]


@dataclass(frozen=True)
class Shown:
    """One text of the window. `hit` marks the turn that was found."""

    cursor: int
    role: str
    content: str
    hit: bool = False
    tool_name: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (False, "")}


@dataclass(frozen=True)
class Hit:
    """A turn that matches. `cursor` is that of the record the snippet is from, `turn_cursor` of the turn's first.

    `timestamp` is the minute of local time that the history has, empty when it has none.
    """

    chat_id: str
    cursor: int
    turn_cursor: int
    title: str
    timestamp: str
    snippet: str
    score: float
    window: tuple[Shown, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `GET sessions/search`."""
        return {**asdict(self), "window": [shown.as_dict() for shown in self.window]}


@dataclass(frozen=True)
class Place:
    """Where a hit is: its turn and the turns beside it in the same history."""

    chat_id: str
    history: Path
    turn: Turn
    before: Turn | None
    after: Turn | None


def show(place: Place, title: str, score: float, weights: Mapping[str, float], redact: Redact) -> Hit | None:
    """The hit at `place`; None when the history no longer has this turn there. `weights` are of the query's words.

    Blocks; raises `OSError`.
    """
    with open_plain(place.history) as file:
        lines = _lines(file, place.turn)
        if not lines or lines[0].cursor != place.turn.cursor:
            return None
        said = [each for line in lines for each in said_in(line)]
        best, at = _best(said, weights)
        window = [
            *_ends_of(file, place.before, redact),
            *_of_hit(said, best, redact),
            *_ends_of(file, place.after, redact),
        ]
    stamp = (lines[0].record or {}).get("timestamp")
    return Hit(
        place.chat_id,
        best.cursor if best else place.turn.cursor,
        place.turn.cursor,
        redact(title),
        stamp[:40] if isinstance(stamp, str) else "",
        _snippet(best.text, at, weights, redact) if best else "",
        round(score, 4),
        tuple(window),
    )


def _lines(file: BinaryIO, turn: Turn) -> list[Line]:
    file.seek(turn.start)
    data = file.read(min(turn.size, MAX_READ))
    return list(read_forwards(io.BytesIO(data), cursor=turn.cursor - 1))


def _ends_of(file: BinaryIO, turn: Turn | None, redact: Redact) -> Iterator[Shown]:
    """The message and the last answer of a turn beside the hit."""
    if turn is None:
        return
    said = [each for line in _lines(file, turn) for each in said_in(line)]
    yield from (_shown(each, redact) for each in _message_and_answer(said))


def _of_hit(said: list[Said], best: Said | None, redact: Redact) -> Iterator[Shown]:
    """As `_ends_of`, and the text that was found where it is another one."""
    shown = _message_and_answer(said)
    if best is not None and best not in shown:
        shown = sorted([*shown, best], key=said.index)
    yield from (_shown(each, redact, hit=True) for each in shown)


def _message_and_answer(said: list[Said]) -> list[Said]:
    message = next((each for each in said if each.role == "user"), None)
    answer = next((each for each in reversed(said) if each.role == "assistant" and each.text.strip()), None)
    return [each for each in (message, answer) if each is not None]


def _shown(said: Said, redact: Redact, *, hit: bool = False) -> Shown:
    text = redact(said.text[: SHOWN + MARGIN])
    if len(text) > SHOWN:
        text = text[: SHOWN - 1].rstrip() + "…"
    return Shown(said.cursor, said.role, text, hit, said.name)


def _best(said: list[Said], weights: Mapping[str, float]) -> tuple[Said | None, int]:
    """The text with the heaviest words of the query, and where in it they stand closest."""
    best: tuple[float, int, int] = (-1.0, 0, 0)
    for number, each in enumerate(said):
        weight, at = _densest(each.text, weights)
        best = max(best, (weight, -number, at))
    return (said[-best[1]], best[2]) if said else (None, 0)


def _densest(text: str, weights: Mapping[str, float]) -> tuple[float, int]:
    """The weight of the words that stand in the best stretch of a snippet's length, and where it begins."""
    folded = _folded(text)
    places: list[tuple[int, str]] = []
    for word in weights:
        start, found = 0, 0
        while found < MAX_PLACES and (at := folded.find(word, start)) >= 0:
            start, found = at + len(word), found + 1
            if _stands_alone(folded, at, start):
                places.append((at, word))
    places.sort()
    best = (0.0, 0)
    for first, (at, _word) in enumerate(places):
        inside = {word for other, word in places[first : first + MAX_PLACES] if other < at + SNIPPET - len(word)}
        weight = sum(weights[word] for word in inside)
        if weight > best[0]:
            best = (weight, at)
    return best


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what was found may be a word or a part of a name: "art" in "smart" is none."""
    if not text[start].isascii():
        return True
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isascii() and before.isalpha() and after.isascii() and after.isalpha())


def _snippet(text: str, at: int, weights: Mapping[str, float], redact: Redact) -> str:
    """About `SNIPPET` characters around `at` in one line."""
    start = max(0, at - SNIPPET // 4 - MARGIN)
    piece = redact(text[start : at + SNIPPET + MARGIN])
    if start or len(piece) > SNIPPET:
        _weight, at = _densest(piece, weights)
        begin = max(0, at - SNIPPET // 4)
        shown = piece[begin : begin + SNIPPET]
        cut_before, cut_after = start + begin > 0, begin + SNIPPET < len(piece)
        piece = f"{'…' * cut_before}{shown.strip()}{'…' * cut_after}"
    return re.sub(r"\s+", " ", piece).strip()


def _folded(text: str) -> str:
    """The text as the query's words are spelled, sign by sign in the same places where that is possible."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded if len(folded) == len(text) else text.lower()
