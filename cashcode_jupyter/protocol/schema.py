"""The JSON Schema of the vocabulary, from which the TypeScript types and docs/protocol.md are made."""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.protocol.actions import ACTIONS
from cashcode_jupyter.protocol.errors import ERROR_CODES
from cashcode_jupyter.protocol.events import EVENTS

REF_TEMPLATE = "#/$defs/{model}"


def json_schema() -> dict[str, Any]:
    """One JSON Schema (draft 2020-12) with `Action`, `Event` and `ErrorCode` under `$defs`."""
    definitions: dict[str, Any] = {}
    schemas = {
        "Action": ACTIONS.json_schema(mode="validation", ref_template=REF_TEMPLATE),
        "Event": EVENTS.json_schema(mode="serialization", ref_template=REF_TEMPLATE),
    }
    for name, schema in schemas.items():
        definitions |= schema.pop("$defs", {})
        definitions[name] = schema
    definitions["ErrorCode"] = {"enum": list(ERROR_CODES), "type": "string"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "CashCode protocol",
        "$defs": dict(sorted(definitions.items())),
    }
