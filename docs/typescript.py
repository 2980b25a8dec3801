"""The TypeScript types of the protocol, for labextension/src/protocol.ts, from its JSON Schema."""

from __future__ import annotations

import json
from typing import Any

HEADER = """\
/**
 * The protocol as types. Made by `python docs/generate.py` from the models in cashcode_jupyter/protocol/.
 *
 * An event may have more fields than stand here, and there may be more events: whoever reads them ignores both.
 */
"""
UNIONS = {"Action": ("Action", "type"), "Event": ("AnyEvent", "event")}


def protocol_types(schema: dict[str, Any]) -> str:
    """The whole file. `Delta` becomes `DeltaEvent`, because `Error` and `Message` mean other things as well."""
    definitions: dict[str, Any] = schema["$defs"]
    members = {union: [part["$ref"].rsplit("/", 1)[1] for part in definitions[union]["oneOf"]] for union in UNIONS}
    names = {name: name + union for union, group in members.items() for name in group}
    codes: list[str] = definitions["ErrorCode"]["enum"]
    lines = [HEADER, f"export type ErrorCode =\n{_lines(codes)};\n"]
    told = set(names) | set(UNIONS) | {"ErrorCode"}
    for name in sorted(set(definitions) - told):
        lines.append(_interface(name, definitions[name], names, codes))
    for union, group in members.items():
        for name in group:
            lines.append(_interface(name, definitions[name], names, codes, union))
        shown = "\n".join(f"  | {names[name]}" for name in group)
        lines.append(f"/** Told apart by `{UNIONS[union][1]}`. */\nexport type {UNIONS[union][0]} =\n{shown};\n")
    return "\n".join(lines)


def _interface(
    name: str, schema: dict[str, Any], names: dict[str, str], codes: list[str], union: str | None = None
) -> str:
    """What comes out has every field that is not null; what goes in may leave out what has a default."""
    lines = _comment(schema.get("description"), "")
    lines.append(f"export interface {names.get(name, name)} {{")
    required = set(schema.get("required", ()))
    for field, part in schema.get("properties", {}).items():
        nullable = any(option.get("type") == "null" for option in part.get("anyOf", ()))
        tells = union is not None and field == UNIONS[union][1]
        given = field in required or tells or (union == "Event" and not nullable)
        lines += _comment(part.get("description"), "  ")
        lines.append(f"  {field}{'' if given else '?'}: {_type(part, names, codes)};")
    return "\n".join([*lines, "}", ""])


def _type(schema: dict[str, Any], names: dict[str, str], codes: list[str]) -> str:
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return "ErrorCode" if schema["enum"] == codes else " | ".join(map(_literal, schema["enum"]))
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[1]
        return names.get(name, name)
    if "anyOf" in schema:
        return " | ".join(_type(part, names, codes) for part in schema["anyOf"] if part.get("type") != "null")
    match schema.get("type"):
        case "array":
            item = _type(schema.get("items", {}), names, codes)
            return f"({item})[]" if "|" in item else f"{item}[]"
        case "integer" | "number":
            return "number"
        case "string" | "boolean" as plain:
            return f"{plain}"
        case "object":
            return "Record<string, unknown>"
    return "unknown"


def _literal(value: object) -> str:
    return json.dumps(value).replace('"', "'")


def _lines(values: list[str]) -> str:
    return "\n".join(f"  | {_literal(value)}" for value in values)


def _comment(text: str | None, indent: str) -> list[str]:
    return [f"{indent}/** {' '.join(text.split())} */"] if text else []
