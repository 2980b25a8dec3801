"""The loop guard: a model that makes the same call with the same result again and again is told, then stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

HINT_AT, REFUSE_FROM, STOP_AT = 2, 3, 5

HINT = (
    "\n\n(This is the same call with the same result as before. Repeating it will not change the result; "
    "use what you have or try something else.)"
)
REFUSAL = "This call was not run: it gave the same result before. Use that result, or do something else."


class Verdict(IntEnum):
    RUN = 0
    REFUSE = 1
    STOP = 2


def signature(name: str, arguments: dict[str, Any]) -> str:
    """What makes two calls the same: the name and the arguments, whatever their order."""
    text = json.dumps([name, arguments], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(slots=True)
class _Seen:
    result: str
    times: int


class LoopGuard:
    """Counts, within one turn, how often a call gave the same result."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def before(self, call: str) -> Verdict:
        """Whether the call with this signature may run; a refusal counts as one more repetition."""
        seen = self._seen.get(call)
        if seen is None or seen.times + 1 < REFUSE_FROM:
            return Verdict.RUN
        seen.times += 1
        return Verdict.STOP if seen.times >= STOP_AT else Verdict.REFUSE

    def after(self, call: str, result: str, *, changes: bool) -> str:
        """The result as the model shall see it.

        A call that changes something (`changes`) and is new gives every other call a fresh start: reading a file
        again after an edit is no loop.
        """
        digest = hashlib.sha256(result.encode("utf-8", "replace")).hexdigest()
        seen = self._seen.get(call)
        if seen is None or seen.result != digest:
            if changes and seen is None:
                self._seen.clear()
            self._seen[call] = _Seen(digest, 1)
            return result
        seen.times += 1
        return result + HINT if seen.times >= HINT_AT else result
