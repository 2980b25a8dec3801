"""The line after `%%cashcode`, read without guessing: a wrong option is an error that names the close ones."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.failures import BadOption

PROVIDERS = ("openai_compatible", "ollama", "starter")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a `%%cashcode` line asks for; `context` is `none`, `above`, `all` or a number of cells."""

    chat: str | None = None
    new: bool = False
    model: dict[str, str] | None = None
    skills: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    context: str = "none"
    variables: tuple[str, ...] = ()
    background: bool = False
    insert: bool = False
    json: bool = False


@dataclass
class _Given:
    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)


_FLAGS = ("--new", "--bg", "--insert", "--json")
_ONCE = ("--chat", "--model", "--context")
_MANY = ("--skill", "--mcp", "--var")


def parse(line: str) -> Options:
    """The options in `line`; raises `BadOption` with what is wrong."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadOption(_("The options cannot be read: {reason}.").format(reason=error)) from None
    given = _collect(words)
    options = Options(
        chat=_last(given, "--chat"),
        new="--new" in given.flags,
        model=model_choice(_last(given, "--model")),
        skills=tuple(given.values.get("--skill", ())),
        servers=tuple(given.values.get("--mcp", ())),
        context=context_choice(_last(given, "--context")),
        variables=tuple(dict.fromkeys(given.values.get("--var", ()))),
        background="--bg" in given.flags,
        insert="--insert" in given.flags,
        json="--json" in given.flags,
    )
    if options.chat is not None and options.new:
        raise BadOption(_("Give either --chat or --new: --new starts a chat that has no name yet."))
    if options.background and options.insert:
        raise BadOption(_("--insert needs the answer before the cell ends, so it cannot be used with --bg."))
    return options


def _collect(words: Sequence[str]) -> _Given:
    given = _Given()
    rest = iter(words)
    for word in rest:
        name, joined, value = word.partition("=")
        if name in _FLAGS and not joined:
            given.flags.add(name)
        elif name in _ONCE or name in _MANY:
            if not joined:
                value = next(rest, "")
            if not value or (not joined and value.startswith("--")):
                raise BadOption(_("{option} needs a value.").format(option=name))
            given.values.setdefault(name, []).append(value)
        else:
            raise BadOption(_unknown(name))
        if name in _ONCE and len(given.values[name]) > 1:
            raise BadOption(_("{option} can be given only once.").format(option=name))
    return given


def _unknown(word: str) -> str:
    if not word.startswith("-"):
        return _("{word!r} is not an option. Write the question on the lines below %%cashcode.").format(word=word)
    known = (*_FLAGS, *_ONCE, *_MANY)
    near = get_close_matches(word, known, n=3, cutoff=0.4) or known
    return _("There is no option {word}. Did you mean {near}?").format(word=word, near=", ".join(near))


def _last(given: _Given, name: str) -> str | None:
    values = given.values.get(name)
    return values[-1] if values else None


def model_choice(text: str | None) -> dict[str, str] | None:
    """`PROVIDER:MODEL` as the wire's `{provider, model}`; the model's own name may hold colons."""
    if text is None:
        return None
    provider, _colon, model = (part.strip() for part in text.partition(":"))
    if provider not in PROVIDERS or not model:
        raise BadOption(
            _("{text!r} is not a model. Write PROVIDER:MODEL, where the provider is {providers}.").format(
                text=text, providers=", ".join(PROVIDERS)
            )
        )
    return {"provider": provider, "model": model}


def context_choice(value: str | int | None) -> str:
    """`none`, `above`, `all` or the number of cells as text."""
    text = "none" if value is None else str(value)
    if text not in ("none", "above", "all") and not (text.isascii() and text.isdigit()):
        raise BadOption(
            _("{value!r} is not a context. Use none, above, all or a number of cells.").format(value=text)
        )
    return text
