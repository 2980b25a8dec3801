"""The pictures of a conversation in a request: the newest few as data, all others as a note with their name.

Messages hold names only. A request is rendered with a placeholder for each picture, and the bytes are put in last,
so nothing but that looks at megabytes of base64.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.protocol.pictures import mime_of

Message = dict[str, Any]
Gallery = Mapping[str, bytes]
"""The data URL of each picture by its file name."""

MOST = 8
NOTE = "[picture: {label}]"
_PLACE = "picture:"
# A quote inside of any text is escaped in JSON, so these bytes are found only where a picture's part begins.
_OPENING = b'{"type":"image_url","image_url":{"url":"'
_MARK = _OPENING + _PLACE.encode()


@dataclass(frozen=True)
class Shown:
    """Which pictures of a history go out as data: those after the first `skipped` that are not `missing`."""

    skipped: int = 0
    missing: frozenset[str] = frozenset()

    def part(self, number: int, picture: Mapping[str, str]) -> dict[str, Any]:
        """The content part of the picture with this number in the history."""
        if number < self.skipped or picture["file"] in self.missing:
            return {
                "type": "text",
                "text": NOTE.format(label=" ".join(picture["label"].split()) or picture["file"]),
            }
        return {"type": "image_url", "image_url": {"url": _PLACE + picture["file"]}}


def shown(messages: Sequence[Message], profile: Profile, gallery: Gallery) -> Shown:
    """What a model that may see gets of `messages`: its newest pictures, as far as their bytes are there."""
    files = files_of(messages)
    if not files:
        return Shown()
    if profile.vision is False:
        return Shown(skipped=sys.maxsize)
    skipped = max(0, len(files) - MOST)
    return Shown(skipped, frozenset(files[skipped:]) - gallery.keys())


def files_of(messages: Sequence[Message]) -> list[str]:
    """The file of each picture, oldest first."""
    return [picture["file"] for message in messages for picture in message.get("pictures", ())]


def told(messages: Sequence[Message], chosen: Shown, before: int = 0) -> list[Message]:
    """The messages with their pictures as content parts or notes; `before` counts the pictures before them."""
    made: list[Message] = []
    for message in messages:
        pictures = message.get("pictures", ())
        if pictures:
            parts = [chosen.part(before + number, picture) for number, picture in enumerate(pictures)]
            message = message | {"content": _content(message["content"], parts), "pictures": ()}
            before += len(pictures)
        made.append(message)
    return made


def filled(rendered: bytes, gallery: Gallery) -> bytes:
    """The JSON of a request's messages with the bytes in place of the placeholders."""
    head, *rest = rendered.split(_MARK) if gallery else (rendered,)
    pieces = [head]
    for piece in rest:
        file, quote, after = piece.partition(b'"')
        pieces += [_OPENING, gallery.get(file.decode(), _PLACE.encode() + file), quote, after]
    return b"".join(pieces)


async def gallery_of(messages: Sequence[Message], attachments: Attachments, known: dict[str, bytes]) -> Gallery:
    """The bytes of what `shown` may show; `known` keeps what was read once."""
    newest = files_of(messages)[-MOST:]
    if unread := [file for file in newest if file not in known]:
        known |= await asyncio.to_thread(_read, unread, attachments)
    return known


def _read(files: Sequence[str], attachments: Attachments) -> dict[str, bytes]:
    read = ((file, attachments.read(file)) for file in dict.fromkeys(files))
    return {
        file: b"data:%s;base64,%s" % (mime_of(file).encode(), base64.b64encode(data))
        for file, data in read
        if data is not None
    }


def _content(text: str, parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """One text when there is nothing to see."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join([*([text] if text.strip() else []), *(part["text"] for part in parts)])
    return [*([{"type": "text", "text": text}] if text.strip() else []), *parts]
