"""The directive language, with which a request says what the scripted model shall answer.

`[[mock:KIND,key=value,arg.KEY=VALUE]]` stands in a user message, or `mock:KIND,...` is the model's name. Every
value is checked when the directive is read, so whatever acts on one can trust it; a mistake is answered by a 400
that names it.

Kinds: `text` (a plain answer), `tools` (`rounds` rounds of one call each, then the answer), `parallel` (one round
of `calls` calls, then the answer). The kind may be left out.

Answer      say=WORDS (as it stands), text=PERCENT-ENCODED, text64=BASE64, else counted words: chunks=20 size=6
            see=1 tells how many pictures the request has, and their types
            chunks= or size= also cut a given text; delay_ms= between chunks, first_ms= before the first byte,
            burst=1 events a write; reasoning= (percent-encoded) comes before the answer or the calls
Calls       rounds=1 calls=1 tool=START-OF-NAME (else the first offered); before= (percent-encoded): text with them
            arg.KEY=VALUE (JSON or text, percent-encoded; {round} and {call} become their number, from 0)
            split=1 pieces in which the arguments of a call come
            calls=BASE64 of a JSON list of rounds, each a list of {"name", "arguments"}; arguments are an object,
            or a text that is sent as it is. Without offered tools no call is made.
            final_tool=NAME gives the answer as a call of this tool
            count=assistant counts rounds by assistant messages with or without calls
Faults      fault=429|500|disconnect|truncate|badargs|badsse, retry_after=1, after=5 events
            times=1 requests with the same key= (else: with the same fault) fail before one succeeds (0: always)
Quirks      quirk=NAME or NAME+NAME (`--list-quirks`), after= events, times= (here the default is 0: always), key=
            on=ROUND: fault and quirk only in this round, from 0
Usage       prompt_tokens= completion_tokens=
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

MARK = "[[mock:"
DIRECTIVE = re.compile(r"\[\[mock:([^\]]*)\]\]")
KINDS = ("text", "tools", "parallel")
FAULTS = ("429", "500", "disconnect", "truncate", "badargs", "badsse")
LONGEST = 64 * 1024 * 1024


class DirectiveError(ValueError):
    """A directive that says nothing this server can do; the text names the mistake."""


@dataclass(frozen=True)
class ScriptedCall:
    """One tool call of a scripted round; `arguments` is the JSON text that goes out."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Directive:
    """What one request asked for. Times are milliseconds; `None` means that nothing was said."""

    kind: str = "text"
    text: str | None = None
    see: int = 0
    reasoning: str = ""
    before: str = ""
    chunks: int | None = None
    size: int | None = None
    delay_ms: float = 0
    first_ms: float = 0
    burst: int = 1
    rounds: int = 1
    calls: int | None = None
    script: tuple[tuple[ScriptedCall, ...], ...] | None = None
    tool: str = ""
    final_tool: str = ""
    count: str = ""
    split: int = 1
    fault: str = ""
    quirk: tuple[str, ...] = ()
    retry_after: str = "1"
    after: int = 5
    times: int | None = None
    key: str = ""
    on: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    args: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, round_number: int, call: int) -> str:
        """The arguments of one call as JSON text, `{round}` and `{call}` filled in."""
        filled: dict[str, Any] = {}
        for key, raw in self.args.items():
            value = raw.replace("{round}", str(round_number)).replace("{call}", str(call))
            try:
                filled[key] = json.loads(value, parse_constant=_no_constant)
            except (ValueError, RecursionError):
                filled[key] = value
        return json.dumps(filled, ensure_ascii=False)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise DirectiveError(f"{name}={value!r} is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise DirectiveError(f"{name}={value!r} must be a finite number, not below 0")
    return number


def _whole(low: int, high: int) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise DirectiveError(f"{name}={value!r} must be a whole number from {low} to {high}")
        return int(value)

    return read


def _plain(name: str, value: str) -> str:
    return value


def _unquoted(name: str, value: str) -> str:
    return unquote(value)


def _fault(name: str, value: str) -> str:
    if value not in FAULTS:
        raise DirectiveError(f"{name}={value!r} is not one of {', '.join(FAULTS)}")
    return value


def _names(name: str, value: str) -> tuple[str, ...]:
    return tuple(part for part in value.split("+") if part)


def _decoded(name: str, value: str) -> bytes:
    try:
        padded = value.replace("-", "+").replace("_", "/").rstrip("=")
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise DirectiveError(f"{name} is not base64") from None


def _text64(name: str, value: str) -> str:
    try:
        return _decoded(name, value).decode()
    except UnicodeDecodeError:
        raise DirectiveError(f"{name} is not base64 of UTF-8 text") from None


def _rounds(name: str, value: str) -> tuple[tuple[ScriptedCall, ...], ...]:
    problem = DirectiveError(
        f'{name} must be base64 of a JSON list of rounds, each a list of {{"name", "arguments"}}'
    )
    try:
        rounds = json.loads(_decoded(name, value))
    except (ValueError, RecursionError):
        raise problem from None
    if not isinstance(rounds, list) or not all(isinstance(calls, list) for calls in rounds):
        raise problem
    return tuple(tuple(_call(item, problem) for item in calls) for calls in rounds)


def _call(item: Any, problem: DirectiveError) -> ScriptedCall:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise problem
    arguments = item.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(item["name"], text)


_READERS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "say": ("text", _plain),
    "text": ("text", _unquoted),
    "text64": ("text", _text64),
    "see": ("see", _whole(0, 1)),
    "reasoning": ("reasoning", _unquoted),
    "before": ("before", _unquoted),
    "chunks": ("chunks", _whole(0, 1_000_000)),
    "size": ("size", _whole(1, 1_000_000)),
    "delay_ms": ("delay_ms", _number),
    "first_ms": ("first_ms", _number),
    "burst": ("burst", _whole(1, 1_000_000)),
    "rounds": ("rounds", _whole(0, 100_000)),
    "tool": ("tool", _plain),
    "final_tool": ("final_tool", _plain),
    "count": ("count", _plain),
    "split": ("split", _whole(0, 1_000_000)),
    "fault": ("fault", _fault),
    "quirk": ("quirk", _names),
    "retry_after": ("retry_after", _plain),
    "after": ("after", _whole(0, 1_000_000)),
    "times": ("times", _whole(0, 1_000_000)),
    "key": ("key", _plain),
    "on": ("on", _whole(0, 100_000)),
    "prompt_tokens": ("prompt_tokens", _whole(0, 999_999_999)),
    "completion_tokens": ("completion_tokens", _whole(0, 999_999_999)),
}


@lru_cache(maxsize=1024)
def parse(spec: str) -> Directive:
    """The directive written as `KIND,key=value,...`; raises DirectiveError that names the mistake."""
    kind = "text"
    found: dict[str, Any] = {}
    args: dict[str, str] = {}
    for number, part in enumerate(item.strip() for item in spec.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            if number == 0 and (not name or name in KINDS):
                kind = name or kind
                continue
            if not name:
                continue
            raise DirectiveError(f"{name!r} is neither a kind ({', '.join(KINDS)}) nor key=value")
        if name.startswith("arg."):
            args[name[4:]] = unquote(value)
        elif name == "calls" and value.isdigit():
            found["calls"] = _whole(0, 10_000)(name, value)
        elif name == "calls":
            found["script"], kind = _rounds(name, value), "tools"
        elif name in _READERS:
            target, read = _READERS[name]
            found[target] = read(name, value)
        else:
            raise DirectiveError(f"unknown parameter {name!r}")
    read_directive = Directive(kind=kind, args=args, **found)
    if (read_directive.chunks or 20) * (read_directive.size or 6) > LONGEST:
        raise DirectiveError(f"chunks x size is more than {LONGEST} characters")
    return read_directive


def directive(kind: str = "text", **params: object) -> str:
    """A directive as text for a prompt, its values encoded.

    `directive("tools", tool="grep", args={"pattern": "a, b"}, text="Done.")`; `quirk` may be a list of names.
    Raises DirectiveError when the result would not be understood.
    """
    parts = [kind]
    for name, value in params.items():
        if name == "args" and isinstance(value, Mapping):
            parts += [f"arg.{key}={quote(_argument(item), safe='{}')}" for key, item in value.items()]
        elif name in ("text", "say", "reasoning", "before"):
            parts.append(f"{'text' if name == 'say' else name}={quote(str(value), safe='')}")
        elif name == "quirk" and not isinstance(value, str) and isinstance(value, Sequence):
            parts.append("quirk=" + "+".join(map(str, value)))
        else:
            parts.append(f"{name}={value}")
    spec = ",".join(parts)
    parse(spec)
    return f"{MARK}{spec}]]"


def _argument(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)  # a text that looks like JSON stays a text


def script(rounds: Sequence[Sequence[tuple[str, Any]]], **params: object) -> str:
    """A directive for rounds of different calls.

    `script([[("glob", {"pattern": "*"})], [("read_file", {"path": "a.txt"})]], text="Done.")`. Arguments given as
    a text go out as they are, also when they are no JSON.
    """
    plain = [[{"name": name, "arguments": arguments} for name, arguments in calls] for calls in rounds]
    return directive("tools", calls=base64.b64encode(json.dumps(plain).encode()).decode(), **params)
