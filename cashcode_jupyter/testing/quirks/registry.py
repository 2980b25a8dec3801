"""The named quirks, each declared once beside the code that makes it.

A quirk acts at a stage of an answer: `refuse` answers in place of the model, `reply` changes what is said,
`stream` bends the events of a stream, `whole` the body of an answer that is not streamed, `frames` the bytes. One
without any of these is acted on where the answer is written (`completions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.testing.chunks import Stream
from cashcode_jupyter.testing.directive import Directive, DirectiveError
from cashcode_jupyter.testing.reply import Reply


@dataclass(frozen=True)
class Response:
    """A finished HTTP answer."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Asked:
    """What a refusal may look at: the request's body, the directive, the size of the model's window in tokens."""

    body: dict[str, Any]
    directive: Directive
    context_window: int


Refuse = Callable[[Asked], Response | None]
ChangeReply = Callable[[Reply], None]
BendStream = Callable[[Stream, Directive, Reply], None]
BendWhole = Callable[[dict[str, Any]], None]
BendFrames = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True)
class Quirk:
    name: str
    says: str
    refuse: Refuse | None = None
    reply: ChangeReply | None = None
    stream: BendStream | None = None
    whole: BendWhole | None = None
    frames: BendFrames | None = None


QUIRKS: dict[str, Quirk] = {}


def add(
    name: str,
    says: str,
    *,
    refuse: Refuse | None = None,
    reply: ChangeReply | None = None,
    stream: BendStream | None = None,
    whole: BendWhole | None = None,
    frames: BendFrames | None = None,
) -> None:
    QUIRKS[name] = Quirk(name, says, refuse, reply, stream, whole, frames)


def resolve(names: Sequence[str]) -> list[Quirk]:
    """The quirks of these names; raises DirectiveError for an unknown one."""
    unknown = [name for name in names if name not in QUIRKS]
    if unknown:
        raise DirectiveError(f"unknown quirk {unknown[0]!r}; python -m cashcode_jupyter.testing --list-quirks")
    return [QUIRKS[name] for name in names]
