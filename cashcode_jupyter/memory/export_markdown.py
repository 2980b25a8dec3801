"""A chat as Markdown, and the fences and collapsed calls that the notebook export shares with it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cashcode_jupyter.memory.export_steps import Call, Message, Step

PYTHON = {"python", "py", "python3", "ipython", "ipython3"}
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^\s`{]*)[^`\n]*$")


class Piece(NamedTuple):
    """A part of a text: `code` is Python from a fence, without the fence."""

    code: bool
    text: str


def markdown(title: str, chat: Iterable[Step]) -> Iterator[str]:
    """The document in pieces."""
    yield f"# {heading(title)}\n"
    for step in chat:
        if isinstance(step, Call):
            yield f"\n{collapsed(step)}\n"
        else:
            yield f"\n## {speaker(step)}\n\n{step.text.strip()}\n{_pictures(step)}"


def heading(title: str) -> str:
    """A title in one line that nothing in it can end."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(title.split())) or "CashCode"


def speaker(step: Message) -> str:
    name = "You" if step.role == "user" else "CashCode"
    return f"{name} · {step.timestamp}" if step.timestamp else name


def collapsed(call: Call) -> str:
    """A call as a block that opens with a click."""
    state = "no result was stored" if call.result is None else "done" if call.ok else "failed"
    parts = [
        f"<details>\n<summary>Tool call: {html.escape(' '.join(call.name.split()))} ({state})</summary>\n",
        fenced(json.dumps(call.arguments, ensure_ascii=False, indent=2), "json"),
    ]
    if call.result is not None:
        parts.append(f"\n{fenced(call.result, 'text')}")
    return "\n".join([*parts, "\n</details>"])


def fenced(text: str, language: str) -> str:
    """`text` in a fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def split_code(text: str) -> Iterator[Piece]:
    """The text cut at its Python fences, by CommonMark's rules; a fence that never closes runs to the end.

    Fences of other languages stay in the text, and so does a Python fence inside them.
    """
    words: list[str] = []
    code: list[str] = []
    indent, fence, python = 0, "", False
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            indent, fence = len(found[1]), found[2]
            python = found[3].lower() in PYTHON
            if not python:
                words.append(line)
            elif words:
                yield Piece(False, "\n".join(words))
                words = []
        elif fence and re.fullmatch(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*", line):
            if python:
                yield Piece(True, "\n".join(code))
                code = []
            else:
                words.append(line)
            fence, python = "", False
        elif python:
            code.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
        else:
            words.append(line)
    if python:
        yield Piece(True, "\n".join(code))
    elif words:
        yield Piece(False, "\n".join(words))


def _pictures(step: Message) -> str:
    return "".join(f"\n*[picture: {heading(each['label'] or each['file'])}]*\n" for each in step.pictures)
