"""Base URLs: what is accepted, how they are written down, and which are this computer itself."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting

LONGEST_URL = 2048
OLLAMA = "http://127.0.0.1:11434"
_ODD = re.compile(r"[\x00-\x20\x7f\\]")


def base_url(text: str, *, ollama: bool = False) -> str:
    """`text` as it is stored: without trailing slashes, for Ollama also without `/v1`. Empty stays empty.

    `BadSetting` for what is no http or https URL, and for one with credentials, a query or a fragment.
    """
    text = text.strip()
    if not text:
        return ""
    if len(text) > LONGEST_URL:
        raise BadSetting(_("The base URL is longer than {limit} characters.").format(limit=LONGEST_URL))
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadSetting(_("The base URL is not a URL.")) from None
    if parts.scheme not in ("http", "https") or not host or port == 0 or _ODD.search(text):
        raise BadSetting(_("The base URL has to be an http:// or https:// address."))
    if "@" in parts.netloc:
        raise BadSetting(_("The base URL must not contain a user name or password; the key has its own field."))
    if "?" in text or "#" in text:
        raise BadSetting(_("The base URL must not contain a query (?) or a fragment (#)."))
    path = parts.path.rstrip("/")
    if ollama:
        path = path.removesuffix("/v1").rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path, "", ""))


def is_loopback(url: str) -> bool:
    """Whether the address is this computer, so that no proxy may stand between."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def ollama_from_environment(environ: Mapping[str, str]) -> str:
    """The address in `OLLAMA_HOST`, by Ollama's own rules; empty when it is not set or no address."""
    text = environ.get("OLLAMA_HOST", "").strip().strip("\"'")
    if not text:
        return ""
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "http", text
    place, slash, path = rest.partition("/")
    default = {"http": "80", "https": "443"}.get(scheme, "") if mark else "11434"
    host, port = place, default
    if place.startswith("[") and "]" in place:
        host, _bracket, after = place.partition("]")
        host += "]"
        port = after.removeprefix(":") or default
    elif place.count(":") == 1:
        host, _colon, port = place.partition(":")
    if host in ("", "0.0.0.0"):
        host = "127.0.0.1"  # an address to listen on, not one to connect to
    try:
        return base_url(f"{scheme}://{host}:{port or default}{slash}{path}", ollama=True)
    except BadSetting:
        return ""
