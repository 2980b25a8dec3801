"""Reasoning that models write into their answer as `<think>…</think>`, told apart while it streams.

One rule: any cut of the same text gives the same reasoning and the same answer. A `<think>` counts only before the
first visible character. A `</think>` alone, which comes when the template wrote the opening tag, is taken out of
the answer and reported, so that the next answer of this model can be read with `assume_open`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from cashcode_jupyter.llm.tags import may_become, tail

OPEN, CLOSE = "<think>", "</think>"


class _State(Enum):
    START = auto()  # only white space so far
    INSIDE = auto()
    AFTER = auto()  # right behind a closing tag: white space is dropped, another opening tag may come
    ANSWER = auto()  # a closing tag alone may still come
    PLAIN = auto()


class ThinkSplitter:
    """Text goes in by `feed`, comes out by two callbacks. `assume_open`: it begins as reasoning, without a tag.

    After `flush`: `lone_close` says that a closing tag came without an opening one; `never_closed` that the assumed
    reasoning did not end, in which case its text was given as the answer too.
    """

    def __init__(
        self, on_text: Callable[[str], None], on_reasoning: Callable[[str], None], *, assume_open: bool = False
    ) -> None:
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._state = _State.INSIDE if assume_open else _State.START
        self._assumed: list[str] | None = [] if assume_open else None
        self._at_edge = True  # nothing but white space since the opening tag
        self._held = ""
        self._last = ""
        self.lone_close = False
        self.never_closed = False

    def reasoning_is_separate(self) -> None:
        """The server sends reasoning in a field of its own, so what begins as content is the answer."""
        if self._state is _State.INSIDE and self._assumed == [] and not self._held:
            self._state, self._assumed = _State.START, None

    def feed(self, piece: str) -> None:
        if self._state is _State.PLAIN:
            self._on_text(piece)
            return
        if self._state is _State.ANSWER and not self._held and "<" not in piece:
            self._last = piece[-1:] or self._last
            self._on_text(piece)
            return
        if self._state is _State.INSIDE and not self._held and not self._at_edge and "<" not in piece:
            self._reason(piece)
            return
        text, self._held = self._held + piece, ""
        steps = {
            _State.START: self._start,
            _State.INSIDE: self._inside,
            _State.AFTER: self._after,
            _State.ANSWER: self._answer,
            _State.PLAIN: self._plain,
        }
        while text:
            text = steps[self._state](text)

    def flush(self, *, whole: bool = True) -> None:
        """The stream has ended; `whole` when it was not cut."""
        held, self._held = self._held, ""
        if self._state is _State.INSIDE:
            if held:
                self._reason(held)
            if whole and self._assumed:
                self.never_closed = True
                self._on_text("".join(self._assumed))
        elif (held and self._state is not _State.AFTER) or held.strip():
            self._on_text(held)

    def _start(self, text: str) -> str:
        bare = text.lstrip()
        if may_become(bare, OPEN) or may_become(bare, CLOSE):
            self._held = text
            return ""
        if bare.startswith(OPEN):
            self._state, self._at_edge = _State.INSIDE, True
            return bare[len(OPEN) :]
        self._state = _State.ANSWER
        return text

    def _inside(self, text: str) -> str:
        if self._at_edge:
            text = text.lstrip()
            if not text:
                return ""
            if self._assumed is not None:
                if may_become(text, OPEN):
                    self._held = text
                    return ""
                if text.startswith(OPEN):
                    self._assumed = None
                    return text[len(OPEN) :]
            self._at_edge = False
        at = text.find(CLOSE)
        if at >= 0:
            if at:
                self._reason(text[:at])
            self._assumed = None
            self._state = _State.AFTER
            return text[at + len(CLOSE) :]
        keep = tail(text, CLOSE)
        if keep < len(text):
            self._reason(text[: len(text) - keep])
        self._held = text[len(text) - keep :]
        return ""

    def _after(self, text: str) -> str:
        bare = text.lstrip()
        if may_become(bare, OPEN):
            self._held = bare
            return ""
        if bare.startswith(OPEN):
            self._state, self._at_edge = _State.INSIDE, True
            return bare[len(OPEN) :]
        self._state = _State.PLAIN
        return bare

    def _answer(self, text: str) -> str:
        at = text.find(CLOSE)
        if at < 0:
            keep = tail(text, CLOSE)
            self._answered(text[: len(text) - keep])
            self._held = text[len(text) - keep :]
            return ""
        self._answered(text[:at])
        if self._last == "`":  # an answer that talks about the tag
            self._answered(CLOSE)
        else:
            self._state, self.lone_close = _State.PLAIN, True
        return text[at + len(CLOSE) :]

    def _plain(self, text: str) -> str:
        self._on_text(text)
        return ""

    def _answered(self, text: str) -> None:
        if text:
            self._last = text[-1]
            self._on_text(text)

    def _reason(self, text: str) -> None:
        if self._assumed is not None:
            self._assumed.append(text)
        self._on_reasoning(text)
