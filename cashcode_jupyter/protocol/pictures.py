"""Pictures as they come with a message: a data URL in, type and bytes out, or a sentence that says what is wrong.

A picture is what its first bytes say. After it was checked it goes by its file name, which is made of its content.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from dataclasses import dataclass

from cashcode_jupyter.protocol.errors import BadMetadata

MAX_PICTURES = 8
MAX_PICTURE_BYTES = 1 << 20
MIME_TYPES = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
FILE_NAME = re.compile(r"[0-9a-f]{64}\.(png|jpg|webp|gif)")
_DATA_URL = re.compile(r"data:image/(png|jpeg|webp|gif);base64,")
_MAX_BASE64 = (MAX_PICTURE_BYTES + 2) // 3 * 4


@dataclass(frozen=True)
class Picture:
    """One checked picture; `suffix` is one of `MIME_TYPES`."""

    suffix: str
    data: bytes

    @property
    def file(self) -> str:
        return f"{hashlib.sha256(self.data).hexdigest()}.{self.suffix}"


def read_picture(data_url: str) -> Picture:
    """The picture in a `data:` URL; raises `BadMetadata` when it is none that we take."""
    if (found := _DATA_URL.match(data_url)) is None:
        raise BadMetadata(
            "context.data_url must begin with data:image/TYPE;base64, where TYPE is png, jpeg, webp or gif"
        )
    if len(data_url) - found.end() > _MAX_BASE64:
        raise _too_large()
    try:
        data = binascii.a2b_base64(data_url[found.end() :], strict_mode=True)
    except ValueError:
        raise BadMetadata("context.data_url is not valid base64") from None
    if len(data) > MAX_PICTURE_BYTES:
        raise _too_large()
    declared = "jpg" if found[1] == "jpeg" else found[1]
    if suffix_of(data) != declared:
        raise BadMetadata(f"context.data_url says image/{found[1]}, but its bytes are not of this type")
    return Picture(declared, data)


def suffix_of(data: bytes) -> str | None:
    """The type that the first bytes say, as a file's suffix; None when it is none of ours."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return "gif" if data.startswith((b"GIF87a", b"GIF89a")) else None


def mime_of(file: str) -> str:
    """The type of a picture by its `FILE_NAME`."""
    return MIME_TYPES[file.rpartition(".")[2]]


def _too_large() -> BadMetadata:
    return BadMetadata(f"context.data_url: a picture may have at most {MAX_PICTURE_BYTES} bytes")
