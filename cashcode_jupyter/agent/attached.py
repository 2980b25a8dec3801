"""What came with a message: what of it the model sees, what is kept, and what this installation cannot do.

Attached context is shown to the model as data and kept as a receipt (kind, label, size), not as a copy. Pictures
are kept as files before anything names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.pending import PendingMessage
from cashcode_jupyter.memory.records import pictures_of
from cashcode_jupyter.protocol.actions import ContextItem, Metadata
from cashcode_jupyter.protocol.errors import BadMetadata, McpUnavailable, SkillUnavailable
from cashcode_jupyter.protocol.pictures import mime_of, read_picture


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
        kept["context"] = [_receipt(item) for item in metadata.context]
    return kept


def _receipt(item: ContextItem) -> dict[str, Any]:
    if item.kind == "image" and item.file:
        size = {} if item.bytes is None else {"bytes": item.bytes}
        return {"kind": item.kind, "label": item.label, "file": item.file, "mime": mime_of(item.file), **size}
    return {"kind": item.kind, "label": item.label, "chars": len(item.text)}


def has_pictures(message: PendingMessage) -> bool:
    """Whether `keep_pictures` has something to do."""
    return any(item.get("kind") == "image" for item in message.metadata.get("context") or ())


def keep_pictures(message: PendingMessage, attachments: Attachments) -> PendingMessage:
    """The message with its pictures on the disk and by name in it; blocks.

    Raises `BadMetadata` when it names a file that the chat does not have, `StorageError`, `ReadOnly`.
    """
    context = [_kept(item, attachments) for item in message.metadata.get("context") or ()]
    return replace(message, metadata={**message.metadata, "context": context})


def _kept(item: Mapping[str, Any], attachments: Attachments) -> Mapping[str, Any]:
    if item.get("kind") != "image":
        return item
    file = attachments.put(read_picture(item["data_url"])) if item.get("data_url") else item["file"]
    size = attachments.size(file)
    if size is None:
        raise BadMetadata("context.file: the chat has no such picture (any more)")
    return {"kind": "image", "label": item.get("label", ""), "text": "", "file": file, "bytes": size}


def pictures_again(receipts: object) -> Sequence[ContextItem]:
    """The pictures of a stored message, for another message in a chat that has their files."""
    pictures = pictures_of({"context": receipts})
    return [ContextItem(kind="image", label=row["label"][:200], text="", file=row["file"]) for row in pictures]


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
