"""What a model server's error body says, whatever its shape; material for `errors.py`, never shown to anybody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

LONGEST = 20_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]]{0,63}")


@dataclass(frozen=True)
class ErrorFacts:
    """`text` is everything the server wrote, in lower case; `status` the one inside the body, when there is one."""

    text: str = ""
    kinds: frozenset[str] = frozenset()
    param: str | None = None
    status: int | None = None
    window: int | None = None
    html: bool = False


def facts_of(body: Any) -> ErrorFacts:
    """The facts in `{"error": {…}}`, `{"error": "…"}`, `{"object": "error", …}`, `{"detail": …}`, a list or a
    text.
    """
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, str):
        return ErrorFacts(text=body[:LONGEST].lower(), html=body.lstrip()[:1] == "<")
    if not isinstance(body, dict):
        return ErrorFacts()
    error = body.get("error") or body
    if isinstance(error, str):
        error = {**body, "message": error}
    if not isinstance(error, dict):
        return ErrorFacts()
    kinds = frozenset(
        str(error[name]).lower() for name in ("code", "type", "status") if error.get(name) is not None
    )
    return ErrorFacts(
        text=" ".join((*_words(error), *kinds))[:LONGEST].lower(),
        kinds=kinds,
        param=_param(error),
        status=_status(error.get("code")) or _status(error.get("status")),
        window=n if isinstance(n := error.get("n_ctx"), int) else None,
    )


def _words(error: dict[str, Any]) -> list[str]:
    words = [value for name in ("message", "detail", "msg") if isinstance(value := error.get(name), str)]
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and isinstance(raw := metadata.get("raw"), str):
        words.append(raw)  # OpenRouter: what the provider behind it said
    words += [f"{problem.get('msg', '')} {problem.get('loc', '')}" for problem in _problems(error)]
    return words


def _problems(error: dict[str, Any]) -> list[dict[str, Any]]:
    detail = error.get("detail")
    return [item for item in detail if isinstance(item, dict)] if isinstance(detail, list) else []


def _param(error: dict[str, Any]) -> str | None:
    """The parameter that the server names; only something that looks like a name."""
    named = error.get("param")
    for problem in _problems(error):
        loc = problem.get("loc")
        if named is None and isinstance(loc, list) and loc:
            named = loc[1] if loc[0] == "body" and len(loc) > 1 else loc[0]
    return named if isinstance(named, str) and _NAME.fullmatch(named) else None


def _status(code: Any) -> int | None:
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    return code if isinstance(code, int) and 300 <= code <= 599 else None
