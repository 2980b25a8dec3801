"""What a kernel variable is, in a few lines that a model can use: type, shape, dtypes, the first values.

Nothing is imported for it and nothing is computed over whole data. Reprs of other people's classes run on a
thread of their own that is given up after a second, and their failures are reported, not raised.
"""

from __future__ import annotations

import ctypes
import inspect
import itertools
import reprlib
import threading
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import NotFound

MAX_SUMMARY = 4_000
MAX_COLUMNS = 40
HEAD = 5
REPR_SECONDS = 1.0

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 300
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdeque = _short.maxdict = 20
_short.maxlevel = 4


def summary(namespace: Mapping[str, Any], name: str) -> str:
    """The summary of the variable `name`; raises `NotFound` naming close names."""
    if name not in namespace:
        known = [key for key in namespace if not key.startswith("_")]
        near = get_close_matches(name, known, n=3)
        sentence = _("There is no variable {name!r} in this kernel.").format(name=name)
        if near:
            sentence += " " + _("Did you mean {near}?").format(near=", ".join(near))
        raise NotFound(sentence)
    return describe(namespace[name])


def describe(value: object) -> str:
    """At most 4,000 characters about any object; never raises and never takes much longer than a second."""
    text = guarded(lambda: "\n".join(_lines(value)))
    return text if len(text) <= MAX_SUMMARY else text[: MAX_SUMMARY - 1] + "…"


def guarded(work: Callable[[], str], seconds: float = REPR_SECONDS) -> str:
    """The text of `work`, or a sentence about how it failed or that it took too long."""
    outcome: list[str] = []

    def run() -> None:
        try:
            outcome.append(work())
        except _GivenUp:
            pass
        except BaseException as error:  # noqa: BLE001 (whatever a stranger's repr raises is what we report)
            outcome.append(f"(cannot be shown: {type(error).__name__})")

    thread = threading.Thread(target=run, daemon=True, name="cashcode-repr")
    thread.start()
    thread.join(seconds)
    if outcome:
        return outcome[0]
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_GivenUp))
    return f"(cannot be shown: its text took more than {seconds:g} seconds)"


class _GivenUp(BaseException):
    """Ends a repr that takes too long."""


def _lines(value: object) -> list[str]:
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    lines = [f"type: {type_name(kind)}"]
    if library in ("pandas", "polars", "geopandas") and hasattr(kind, "head"):
        return lines + _table(value)
    if hasattr(kind, "shape") and hasattr(kind, "dtype"):
        return lines + _array(value)
    if isinstance(value, (str, bytes, bytearray)):
        return [*lines, f"length: {len(value)}", f"value: {_short.repr(value[:600])}"]
    if isinstance(value, Mapping):
        return lines + _mapping(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return lines + _items(value)
    if inspect.ismodule(value):
        return [*lines, f"name: {value.__name__}"]
    if inspect.isclass(value) or inspect.isroutine(value):
        return lines + _callable(value)
    if kind.__repr__ is object.__repr__:
        return lines + _attributes(value)
    return [*lines, f"value: {_short.repr(value)}"]


def type_name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _table(value: Any) -> list[str]:
    lines = [f"shape: {value.shape}"]
    dtypes = getattr(value, "dtypes", None)
    if hasattr(value, "columns"):
        names = list(itertools.islice(value.columns, MAX_COLUMNS))
        pairs = zip(names, list(dtypes)[:MAX_COLUMNS] if dtypes is not None else (), strict=False)
        lines += ["columns:", *(f"  {_short.repr(name)}: {dtype}" for name, dtype in pairs)]
        if (more := len(value.columns) - len(names)) > 0:
            lines.append(f"  … {more} more columns")
            value = value[names]
    else:
        lines.append(f"dtype: {value.dtype}")
    head = value.head(HEAD)
    shown = (
        head.to_string(max_colwidth=60) if hasattr(head, "columns") and hasattr(head, "to_string") else str(head)
    )
    return [*lines, f"first {HEAD} rows:", shown]


def _array(value: Any) -> list[str]:
    lines = [f"shape: {tuple(value.shape)}", f"dtype: {value.dtype}"]
    flat = getattr(value, "flat", None)
    if flat is not None:
        lines.append(f"first values: {_short.repr(list(itertools.islice(flat, 10)))}")
    return lines


def _mapping(value: Mapping[Any, Any]) -> list[str]:
    lines = [f"length: {len(value)}", "entries:"]
    for key, item in itertools.islice(value.items(), 20):
        lines.append(f"  {_short.repr(key)}: {type_name(type(item))} = {_short.repr(item)}")
    return lines


def _items(value: Any) -> list[str]:
    kinds = dict.fromkeys(type_name(type(item)) for item in itertools.islice(value, 1000))
    return [
        f"length: {len(value)}",
        f"item types: {', '.join(itertools.islice(kinds, 10)) or 'none'}",
        f"value: {_short.repr(value)}",
    ]


def _callable(value: Any) -> list[str]:
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(…)"
    lines = [f"signature: {getattr(value, '__qualname__', '?')}{signature}"]
    if isinstance(doc := getattr(value, "__doc__", None), str) and doc.strip():
        lines.append(f"doc: {doc.strip().splitlines()[0]}")
    return lines


def _attributes(value: object) -> list[str]:
    attributes = getattr(value, "__dict__", None) or {}
    shown = itertools.islice(((key, item) for key, item in attributes.items() if not key.startswith("_")), 20)
    return ["attributes:", *(f"  {key}: {_short.repr(item)}" for key, item in shown)]
