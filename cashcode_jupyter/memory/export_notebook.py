"""A chat as a notebook (nbformat 4.5): words in Markdown cells, Python in code cells, tool calls folded away.

Nothing is run and code cells have no outputs. The same chat gives the same bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.export_markdown import collapsed, heading, speaker, split_code
from cashcode_jupyter.memory.export_steps import Call, Message, Step
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.protocol.pictures import MIME_TYPES

MAX_PICTURES = 20 << 20
HEAD = '{\n "cells": [\n'


def notebook(
    chat_id: str, title: str, llm: ModelChoice | None, chat: Iterable[Step], pictures: Attachments
) -> Iterator[str]:
    """The file in pieces."""
    cells = _Cells(pictures)
    yield HEAD + _json(cells.cell("markdown", f"# {heading(title)}", 0, "title"))
    for step in chat:
        for cell in cells.of(step):
            yield ",\n" + _json(cell)
    about = {"chat_id": chat_id, "title": title, **({"llm": llm.model_dump()} if llm else {})}
    metadata = {
        "cashcode": about,
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    yield f'\n ],\n "metadata": {_json(metadata)},\n "nbformat": 4,\n "nbformat_minor": 5\n}}\n'


class _Cells:
    """Makes cells with ids that no two have, whatever the cursors are."""

    def __init__(self, pictures: Attachments) -> None:
        self._pictures = pictures
        self._room = MAX_PICTURES
        self._made = 0

    def of(self, step: Step) -> Iterator[dict[str, Any]]:
        if isinstance(step, Call):
            yield self.cell("markdown", collapsed(step), step.cursor, "tool")
            return
        name = f"**{speaker(step)}**"
        pieces = [piece for piece in split_code(step.text) if piece.text.strip()]
        if not pieces or pieces[0].code:
            yield self._words(name, step, first=True)
        for number, (code, text) in enumerate(pieces):
            if code:
                yield self.cell("code", text, step.cursor, step.role)
            else:
                words = f"{name}\n\n{text.strip()}" if number == 0 else text.strip()
                yield self._words(words, step, first=number == 0)

    def _words(self, text: str, step: Message, *, first: bool) -> dict[str, Any]:
        attachments: dict[str, dict[str, str]] = {}
        for picture in step.pictures if first else ():
            file = picture["file"]
            data = self._pictures.read(file)
            if data is None or len(data) > self._room:
                text += f"\n\n*[picture: {heading(picture['label'] or file)}]*"
                continue
            self._room -= len(data)
            attachments[file] = {MIME_TYPES[file.rpartition(".")[2]]: base64.b64encode(data).decode()}
            text += f"\n\n![{heading(picture['label'])}](attachment:{file})"
        cell = self.cell("markdown", text, step.cursor, step.role)
        return cell | ({"attachments": attachments} if attachments else {})

    def cell(self, kind: str, source: str, cursor: int, role: str) -> dict[str, Any]:
        self._made += 1
        cell = {
            "cell_type": kind,
            "id": f"cell-{self._made}",
            "metadata": {"cashcode": {"role": role, "cursor": cursor}},
            "source": source.splitlines(keepends=True),
        }
        return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
