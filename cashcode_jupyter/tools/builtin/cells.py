"""A notebook file as readable cells: sources whole, outputs short, images named and not dumped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MAX_NOTEBOOK_BYTES = 50_000_000
MAX_OUTPUT = 1000


def render_notebook(data: bytes) -> str | None:
    """The cells of an nbformat 4 notebook as text; None when `data` is no such notebook."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return None
    if not cells:
        return "(a notebook without cells)"
    return "\n".join(line for number, cell in enumerate(cells, 1) for line in _cell(number, cell))


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    kind = str(cell.get("cell_type", "unknown"))
    label = [f"cell {number}", kind]
    if cell.get("id"):
        label.append(f"id {cell['id']}")
    if cell.get("execution_count"):
        label.append(f"run [{cell['execution_count']}]")
    yield f"--- {', '.join(label)} ---"
    yield _text(cell.get("source"))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            yield f"--- output of cell {number} ---"
            yield _output(output)


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") == "stream":
        return _short(_text(output.get("text")))
    if output.get("output_type") == "error":
        return _short(f"{output.get('ename')}: {output.get('evalue')}")
    data = output.get("data")
    if not isinstance(data, dict):
        return "(no data)"
    others = [kind for kind in data if kind != "text/plain"]
    parts = [_short(_text(data["text/plain"]))] if "text/plain" in data else []
    return "\n".join([*parts, *(f"[{kind}, not shown]" for kind in others)])


def _text(value: Any) -> str:
    """A multiline string of nbformat: a string or a list of strings."""
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    return (
        text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]} … [{len(text) - MAX_OUTPUT:,} more characters]"
    )
