"""Writes what is made from the code: the protocol's page, JSON Schema and TypeScript, and the README's settings.

Run `python docs/generate.py` after a change of the models or settings; `--check` fails when a file is stale.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from typescript import protocol_types

from cashcode_jupyter.config import table
from cashcode_jupyter.protocol.schema import json_schema

ROOT = Path(__file__).parent.parent
START, END = "<!-- settings: made by docs/generate.py -->", "<!-- /settings -->"

INTRO = """\
# The protocol

This page is made from the models in `cashcode_jupyter/protocol/` by `python docs/generate.py`;
[protocol.schema.json](protocol.schema.json) is the same as JSON Schema. A WebSocket frame, a line of
`cashcode run` and a widget message are the same JSON objects. Unknown fields are ignored on input.

Every event of a chat has a `seq` that grows by one; a `delta` or `reasoning` that joins several pieces carries
`first_seq` as well, so the numbers have no gap and no overlap. Attach with `after_seq` to read on after the last
number you saw. A socket that reads too slowly is closed with code 1013 and attaches again in the same way.

The order in a turn: `session_updated` (first turn only), `turn_started`, then `retrying`, `reasoning`, `delta` and
`tool_call` … `tool_result` as they come, then `stream_end`, `usage`, `done`; or `error`, which ends the turn.
The joined deltas of a turn are the stored answer. `usage` tells the prompt of the last model request (how full the
context is) and all completion tokens of the turn; `done` has the sums over the turn's requests.
"""


def type_name(schema: dict[str, Any]) -> str:
    """A short readable type of one property."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "$ref" in schema:
        return f"[{schema['$ref'].rsplit('/', 1)[1]}](#{schema['$ref'].rsplit('/', 1)[1].lower()})"
    if "anyOf" in schema:
        return " or ".join(type_name(part) for part in schema["anyOf"] if part.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    return schema.get("type", "any")


def rows(name: str, schema: dict[str, Any], *, hide: tuple[str, ...] = ()) -> list[str]:
    required = set(schema.get("required", ()))
    lines = [f"### {name}", ""]
    if text := schema.get("description"):
        lines += [" ".join(text.split()), ""]
    lines += ["| field | type | |", "|---|---|---|"]
    for field, part in schema.get("properties", {}).items():
        if field in hide:
            continue
        optional = "" if field in required or "const" in part else "optional"
        notes = "; ".join(text for text in (optional, part.get("description", "")) if text)
        lines.append(f"| `{field}` | {type_name(part)} | {notes} |")
    return [*lines, ""]


def protocol_page(schema: dict[str, Any]) -> str:
    definitions = schema["$defs"]
    lines = [INTRO]
    named = {"Action": "type", "Event": "event"}
    listed: set[str] = set(named) | {"ErrorCode"}
    for union, key in named.items():
        members = [part["$ref"].rsplit("/", 1)[1] for part in definitions[union]["oneOf"]]
        listed |= set(members)
        lines += [f"## {union}s", "", f"Told apart by `{key}`.", ""]
        for member in members:
            lines += rows(
                member, definitions[member], hide=("chat_id", "seq", "turn_id") if union == "Event" else ()
            )
    lines += ["## Parts", ""]
    for name in sorted(set(definitions) - listed):
        lines += rows(name, definitions[name])
    codes = ", ".join(f"`{code}`" for code in definitions["ErrorCode"]["enum"])
    lines += ["## Error codes", "", codes, ""]
    return "\n".join(lines)


def settings_table() -> str:
    lines = ["| environment variable | default | what it does |", "|---|---|---|"]
    for _name, variables, default, text in table():
        shown = f"`{default}`" if default else ""
        lines.append(f"| {', '.join(f'`{name}`' for name in variables)} | {shown} | {text} |")
    return "\n".join(lines)


def made() -> dict[Path, str]:
    """Every generated file with its text as it must be."""
    schema = json_schema()
    readme = ROOT / "README.md"
    pattern = re.compile(re.escape(START) + ".*?" + re.escape(END), re.DOTALL)
    table_text = f"{START}\n{settings_table()}\n{END}"
    return {
        ROOT / "docs" / "protocol.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n",
        ROOT / "docs" / "protocol.md": protocol_page(schema),
        ROOT / "labextension" / "src" / "protocol.ts": protocol_types(schema),
        readme: pattern.sub(lambda _match: table_text, readme.read_text("utf-8")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when something is stale")
    options = parser.parse_args()
    stale = [path for path, text in made().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{'stale' if options.check else 'wrote'}: {path.relative_to(ROOT)}")
        if not options.check:
            path.write_text(made()[path], "utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
