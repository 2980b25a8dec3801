"""An inverted index with BM25 over turns, which takes one turn at a time.

One writer adds and forgets; readers need no lock, for what they read only grows, and is replaced whole to shrink.
A posting is one number (turn << 8 | how often), so a list of postings is sorted by turn and takes 4 bytes a turn.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

K1, B = 1.5, 0.75
COUNT_BITS = 8
MAX_COUNT = (1 << COUNT_BITS) - 1
MAX_TURNS = 1 << 23
FORGOTTEN = 0xFFFFFFFF
VISITS = 3_000
KEPT = 200


class Turn(NamedTuple):
    """Where a turn is: the number of its chat, its bytes in the history, the cursor of its first record.

    `mark` is made of its bytes, so the copies of a turn that branches have are known as one.
    """

    chat: int
    start: int
    size: int
    cursor: int
    mark: int


class TurnIndex:
    """The turns and the words in them. `postings` maps a word to its turns, oldest first."""

    def __init__(self) -> None:
        self.chat, self.size, self.words = array("I"), array("I"), array("I")
        self.start, self.cursor, self.mark = array("Q"), array("Q"), array("Q")
        self.postings: dict[str, array[int]] = {}
        self.entries = 0
        self._of_chat: dict[int, array[int]] = {}
        self.live = 0
        self.live_words = 0

    def __len__(self) -> int:
        """How many numbers are given away, forgotten turns among them."""
        return len(self.chat)

    def add(self, turn: Turn, tokens: Mapping[str, int]) -> int:
        """Take a turn in; returns its number. Numbers grow."""
        number = len(self.chat)
        words = sum(tokens.values())
        for column, value in zip(self.columns(), (*turn, words), strict=True):
            column.append(value)
        self._of_chat.setdefault(turn.chat, array("I")).append(number)
        self.live += 1
        self.live_words += words
        self.entries += len(tokens)
        base = number << COUNT_BITS
        postings = self.postings
        for token, count in tokens.items():
            posting = base | min(count, MAX_COUNT)
            if (known := postings.get(token)) is None:
                postings[token] = array("I", (posting,))
            else:
                known.append(posting)
        return number

    def turn(self, number: int) -> Turn:
        return Turn(
            self.chat[number], self.start[number], self.size[number], self.cursor[number], self.mark[number]
        )

    def forget(self, numbers: Iterable[int]) -> None:
        """These turns are found no more; `without_forgotten` frees what they take."""
        for number in numbers:
            if self.chat[number] != FORGOTTEN:
                self.chat[number] = FORGOTTEN
                self.live -= 1
                self.live_words -= self.words[number]

    def of_chat(self, chat: int) -> list[int]:
        """The turns of a chat in order."""
        return [number for number in self._of_chat.get(chat, ()) if self.chat[number] == chat]

    def beside(self, number: int) -> tuple[int | None, int | None]:
        """The turns before and after this one in its chat."""
        turns = self.of_chat(self.chat[number])
        at = bisect_left(turns, number)
        return turns[at - 1] if at else None, turns[at + 1] if at + 1 < len(turns) else None

    def without_forgotten(self, breathe: Callable[[], None]) -> tuple[TurnIndex, array[int]]:
        """A smaller index of the same turns, and the new number of each old one.

        `breathe` is called often, so that other threads get their turn.
        """
        fresh = TurnIndex()
        moved = array("I", bytes(4 * len(self)))
        for number, chat in enumerate(self.chat):
            if chat == FORGOTTEN:
                moved[number] = FORGOTTEN
                continue
            moved[number] = len(fresh)
            for column, old in zip(fresh.columns(), self.columns(), strict=True):
                column.append(old[number])
        fresh.count()
        for done, (token, postings) in enumerate(self.postings.items()):
            kept = array(
                "I",
                (
                    moved[posting >> COUNT_BITS] << COUNT_BITS | posting & MAX_COUNT
                    for posting in postings
                    if moved[posting >> COUNT_BITS] != FORGOTTEN
                ),
            )
            if kept:
                fresh.postings[token] = kept
                fresh.entries += len(kept)
            if done % 256 == 0:
                breathe()
        return fresh, moved

    def idf(self, token: str) -> float:
        """BM25's weight of a word, never negative: more for a rarer one, 0 for one that is nowhere."""
        turns = len(self.postings.get(token, ()))
        return math.log(1 + (len(self) - turns + 0.5) / (turns + 0.5)) if turns else 0.0

    def search(self, tokens: Sequence[str], *, most: int) -> list[tuple[float, int]]:
        """`(score, turn)` of the best turns, best first, the newer of equals first.

        Rare words are looked up whole. Once `VISITS` postings were read, a word that is in very many turns only
        adds to the turns that were found already; a single such word looks at its newest turns. So a query costs
        the same however many turns there are.
        """
        lists = sorted(
            ((found, self.idf(token)) for token in dict.fromkeys(tokens) if (found := self.postings.get(token))),
            key=lambda each: len(each[0]),
        )
        average = self.live_words / self.live if self.live else 1.0
        scores: dict[int, float] = {}
        left, full = VISITS, False
        words, flat, slope = self.words, K1 * (1 - B), K1 * B / (average or 1.0)
        for postings, idf in lists:
            gain = idf * (K1 + 1)
            if scores and len(postings) > left:
                if not full:
                    full, scores = True, _best(scores, max(KEPT, most))
                some = _only(postings, scores)
            else:
                some = postings[-left:]
                left -= len(some)
            for posting in some:
                number, count = posting >> COUNT_BITS, posting & MAX_COUNT
                scores[number] = scores.get(number, 0.0) + gain * count / (count + flat + slope * words[number])
        chat = self.chat
        found = [(score, n) for n, score in _best(scores, most).items() if chat[n] != FORGOTTEN]
        return sorted(found, reverse=True)[:most]

    def count(self) -> None:
        """Find what the columns say; needed after they were filled from outside."""
        self._of_chat, self.live, self.live_words = {}, 0, 0
        for number, chat in enumerate(self.chat):
            if chat != FORGOTTEN:
                self._of_chat.setdefault(chat, array("I")).append(number)
                self.live += 1
                self.live_words += self.words[number]

    def columns(self) -> tuple[array[int], ...]:
        """What is known of each turn, a column a field, as it is stored."""
        return self.chat, self.start, self.size, self.cursor, self.mark, self.words


def _best(scores: dict[int, float], most: int) -> dict[int, float]:
    """The `most` best, and those that are as good as the last of them."""
    if len(scores) <= most:
        return scores
    least = sorted(scores.values())[-most]
    return {number: score for number, score in scores.items() if score >= least}


def _only(postings: array[int], numbers: Mapping[int, float]) -> list[int]:
    """The postings of these turns."""
    found = []
    for number in numbers:
        at = bisect_left(postings, number << COUNT_BITS)
        if at < len(postings) and postings[at] >> COUNT_BITS == number:
            found.append(postings[at])
    return found
