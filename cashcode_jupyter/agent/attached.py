"""What came with a message: what of it the model sees, what is kept, and what this installation cannot do.

Attached context is shown to the model as data and kept as a receipt (kind, label, size), not as a copy.
"""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.actions import Metadata
from cashcode_jupyter.protocol.errors import McpUnavailable, SkillUnavailable


def receipts(metadata: Metadata) -> dict[str, Any]:
    """Selections whole, context by kind and label; the fields of the user's record."""
    kept: dict[str, Any] = {}
    if metadata.mentioned_skills:
        kept["mentioned_skills"] = [row.model_dump(exclude_none=True) for row in metadata.mentioned_skills]
    if metadata.selected_mcp_connectors:
        kept["selected_mcp_connectors"] = [
            row.model_dump(exclude_none=True) for row in metadata.selected_mcp_connectors
        ]
    if metadata.context:
        kept["context"] = [
            {"kind": item.kind, "label": item.label, "chars": len(item.text)} for item in metadata.context
        ]
    return kept


def refuse_what_is_not_there(metadata: Metadata) -> None:
    """No skill catalogue and no MCP hub are part of this version; a selection must not be lost silently."""
    if metadata.mentioned_skills:
        name = metadata.mentioned_skills[0].name
        raise SkillUnavailable(
            _("The skill {name} is not installed. Remove the selection and send the message again.").format(
                name=name
            )
        )
    if metadata.selected_mcp_connectors:
        name = metadata.selected_mcp_connectors[0].server
        raise McpUnavailable(
            _("The MCP server {name} is not known. Remove the selection and send the message again.").format(
                name=name
            )
        )
