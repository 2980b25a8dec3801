"""Messages that wait for their turn: durable before they are acknowledged, so they survive a restart.

`pending.jsonl` lies in the chat's folder and goes when nothing waits any more. A message counts as taken as soon as
the history has a user record with its id, whatever this file says.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.actions import parse_metadata
from cashcode_jupyter.protocol.errors import BadMetadata
from cashcode_jupyter.storage.atomic import storage_errors
from cashcode_jupyter.storage.ledger import Ledger

LOG = logs.log("chats")
FILE = "pending.jsonl"


@dataclass(frozen=True)
class PendingMessage:
    """A queued or steering message; `metadata` is what came with it, as JSON."""

    message_id: str
    content: str
    kind: Literal["queue", "steer"] = "queue"
    metadata: Mapping[str, Any] = field(default_factory=dict)


class PendingFile:
    """The waiting messages of one chat in order; `items` is the list, changed in place."""

    def __init__(self, folder: Path, taken: Collection[str], *, new: bool = False) -> None:
        self._path = folder / FILE
        self.items: list[PendingMessage] = []
        if new:
            self._ledger = Ledger(self._path, _("the queue of the chat"))
            return
        self._ledger = Ledger.open(self._path, what=_("the queue of the chat"))
        for record in reversed(list(self._ledger.backwards())):
            message_id = record.get("message_id")
            if record.get("role") == "taken":
                self._drop(message_id)
            elif (item := _item(record)) and item.message_id not in taken:
                self.items.append(item)
        if not self.items:
            self._clear()

    def put(self, item: PendingMessage) -> None:
        self._ledger.append(
            {
                "role": "pending",
                "message_id": item.message_id,
                "content": item.content,
                "kind": item.kind,
                "metadata": dict(item.metadata),
            }
        )
        self.items.append(item)

    def take(self, message_id: str) -> None:
        if all(item.message_id != message_id for item in self.items):
            return
        self._drop(message_id)
        if self.items:
            self._ledger.append({"role": "taken", "message_id": message_id})
        else:
            self._clear()

    def sync(self) -> None:
        if self.items:
            self._ledger.sync()

    def close(self) -> None:
        self._ledger.close()

    def _drop(self, message_id: object) -> None:
        self.items[:] = [item for item in self.items if item.message_id != message_id]

    def _clear(self) -> None:
        self._ledger.close()
        with storage_errors(_("the queue of the chat")):
            self._path.unlink(missing_ok=True)


def _item(record: Mapping[str, Any]) -> PendingMessage | None:
    message_id, content, metadata = (record.get(name) for name in ("message_id", "content", "metadata"))
    if not isinstance(message_id, str) or not isinstance(content, str) or not content.strip():
        return None
    return PendingMessage(
        message_id=message_id,
        content=content,
        kind="steer" if record.get("kind") == "steer" else "queue",
        metadata=_usable(metadata),
    )


def _usable(metadata: object) -> Mapping[str, Any]:
    """What a hand broke in there costs the choices that came with the message, never the message."""
    try:
        parse_metadata(metadata)
    except BadMetadata as error:
        logs.event(LOG, logging.WARNING, "pending.metadata_broken", reason=error.detail)
        return {}
    return metadata if isinstance(metadata, dict) else {}
