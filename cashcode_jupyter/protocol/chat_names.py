"""Which chat a name means, at every door and after every restart.

A valid chat id is its own name; any other name becomes a readable slug and a short hash of the whole name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting

# The grammar of `protocol.actions`, written again because that module loads pydantic; a test holds them together.
_CHAT_ID = re.compile(r"[A-Za-z0-9_:-]{1,64}")


def chat_id(name: str) -> str:
    """The chat of that name; `BadSetting` for a blank one."""
    name = unicodedata.normalize("NFC", name.strip())
    if not name:
        raise BadSetting(_("A chat needs a name."))
    return name if _CHAT_ID.fullmatch(name) else slugged(name, name)


def slugged(readable: str, whole: str) -> str:
    """An id that shows `readable` and means `whole`."""
    plain = unicodedata.normalize("NFKD", readable).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-")[:40].strip("-")
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug or 'chat'}-{digest}"
