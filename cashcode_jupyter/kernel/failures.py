"""Errors as a cell shows them: the class that fits the code, and one readable line instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol import errors
from cashcode_jupyter.protocol.errors import CashCodeError


class BadOption(CashCodeError):
    """An option or an argument of a magic or of `ask` cannot be used."""

    code, status = "bad_setting", 422


class ServerGone(CashCodeError):
    """The Jupyter server went away in the middle of a turn; the chat itself is on disk."""

    code, status, retryable = "internal", 503, True


def of_event(event: Mapping[str, Any]) -> CashCodeError:
    """The exception of an `error` event: the class that owns the code, else the base with that code set."""
    code, detail = str(event.get("code", "internal")), str(event.get("detail", ""))
    retry_after = event.get("retry_after")
    for kind in _family(CashCodeError):
        if kind.__module__ == errors.__name__ and vars(kind).get("code") == code:
            return kind(detail, retry_after=retry_after)
    error = CashCodeError(detail, retry_after=retry_after)
    error.code = code  # type: ignore[misc]
    return error


def _family(kind: type[CashCodeError]) -> Iterator[type[CashCodeError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


def readable(error: CashCodeError) -> CashCodeError:
    """`error`, with IPython's hook for a traceback of its own: the sentence and the code, nothing else."""
    line = _("CashCode: {detail} [{code}]").format(detail=error.detail, code=error.code)
    error._render_traceback_ = lambda: [line]  # type: ignore[attr-defined]
    return error


def stopped() -> KeyboardInterrupt:
    """The interrupt to raise once the turn is cancelled; shown as one line."""
    interrupt = KeyboardInterrupt(_("the turn was stopped"))
    interrupt._render_traceback_ = lambda: [f"KeyboardInterrupt: {interrupt}"]  # type: ignore[attr-defined]
    return interrupt
