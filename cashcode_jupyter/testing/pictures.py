"""The pictures of a request, as a server that sees them would find them."""

from __future__ import annotations

from typing import Any


def pictures_of(body: dict[str, Any]) -> list[str]:
    """The URL of each picture in a request's messages, oldest first."""
    messages = body.get("messages")
    return [
        url
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and isinstance(parts := message.get("content"), list)
        for part in parts
        if isinstance(part, dict) and isinstance(picture := part.get("image_url"), dict)
        if isinstance(url := picture.get("url"), str)
    ]


def what_is_seen(body: dict[str, Any]) -> str:
    """`I see 2 pictures: image/png, image/gif.`"""
    types = [url.partition(";")[0].removeprefix("data:") for url in pictures_of(body)]
    return f"I see {len(types)} pictures{': ' if types else ''}{', '.join(types)}."
