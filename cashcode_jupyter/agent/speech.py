"""What the model says in a turn, on its way to everybody who listens and into the history.

One rule: what is published, joined, is exactly what is stored. Secrets are taken out before either; words of
several rounds are kept apart by an empty line.
"""

from __future__ import annotations

from collections.abc import Callable

from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.security.redact import Redactor

GAP = "\n\n"


class Speech:
    """The words of one turn; `stream_id` is unique per turn and safe as a JavaScript number.

    `before` is called before anything is published.
    """

    def __init__(
        self, bus: Bus, chat_id: str, turn_id: str, redactor: Redactor, before: Callable[[], None]
    ) -> None:
        self.stream_id = int(turn_id, 16)
        self._bus = bus
        self._chat_id = chat_id
        self._turn_id = turn_id
        self._redactor = redactor
        self._before = before
        self._pieces: list[str] = []
        self._gap_due = False
        self.begin()

    @property
    def words(self) -> str:
        """What was said and is not kept in the history yet."""
        return "".join(self._pieces)

    def kept(self) -> None:
        """The words so far are in the history; what comes next is a new message of the same answer."""
        self._gap_due = self._gap_due or bool(self._pieces)
        self._pieces.clear()

    def begin(self) -> None:
        self._clean = self._redactor.stream()
        self._clean_thoughts = self._redactor.stream()

    def hear(self, text: str) -> None:
        """A piece of the answer from the model."""
        if safe := self._clean.feed(text):
            self._say(safe)

    def think(self, text: str) -> None:
        """A piece of the model's reasoning."""
        if safe := self._clean_thoughts.feed(text):
            self._publish("reasoning", safe)

    def end(self) -> None:
        """The request is over: what was held back as a possible secret comes out."""
        if rest := self._clean_thoughts.flush():
            self._publish("reasoning", rest)
        if rest := self._clean.flush():
            self._say(rest)

    def say(self, sentence: str) -> None:
        """A sentence of ours as part of the answer."""
        self._gap_due = self._gap_due or bool(self._pieces)
        self._say(sentence)

    def _say(self, text: str) -> None:
        if self._gap_due:
            self._gap_due = False
            self._publish("delta", GAP)
            if self._pieces:
                self._pieces.append(GAP)
        self._pieces.append(text)
        self._publish("delta", text)

    def _publish(self, kind: str, text: str) -> None:
        self._before()
        self._bus.publish_text(self._chat_id, kind, text, stream_id=self.stream_id, turn_id=self._turn_id)
