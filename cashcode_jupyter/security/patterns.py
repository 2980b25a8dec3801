"""What looks like a secret: keys with a known prefix, Authorization schemes, and values of fields named like one.

Each form is a *lead* (`sk-`, `Bearer `, `"api_key": "`) followed by a *body*, a run of characters without spaces.
The regex only finds leads and bodies; `_secret` then judges the body, because code is full of harmless ones
(`token = tokens[0]`, `api_key=settings.api_key`). Matching is incremental: `_OPEN` finds where a form may have
begun whose end has not arrived.
"""

from __future__ import annotations

import re

from cashcode_jupyter.security.values import MASK
from cashcode_jupyter.security.words import tree

MAX_JUDGED = 256

_STRONG = (
    *("api_key", "api-key", "apikey", "password", "passwd", "passphrase", "secret_key", "secret-key", "secretkey"),
    *("access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey"),
    *("client_secret", "client-secret", "clientsecret", "access_token", "access-token", "accesstoken"),
    *("refresh_token", "refresh-token", "refreshtoken", "auth_token", "auth-token", "authtoken"),
    *("session_token", "session-token", "sessiontoken"),
)
_WEAK = ("token", "secret", "pwd")
_SCHEMES = ("bearer", "basic")
_PREFIXES = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "xoxa-", "xoxb-", "xoxp-"),
    *("xoxr-", "xoxs-", "AKIA", "AIza", "eyJ", "pypi-", "npm_"),
)
_KEYS = {
    "sk-": r"(?:[A-Za-z0-9]+-){0,4}?(?=[A-Za-z_]*\d)[A-Za-z0-9_]{12}|[A-Za-z0-9]{20}",
    "AKIA": r"[A-Z0-9]{12}",
    "AIza": r"[\w-]{30}",
    "eyJ": r"[\w-]{8,}\.[\w-]{8}|[\w-]{40}",
    "glpat-": r"[\w-]{16}",
    "github_pat_": r"\w{20}",
    "pypi-": r"[\w-]{40}",
}
# Names of code in the body of an unquoted value say that it is a reference.
_REFERENCE = re.compile(r"key|token|secret|passw|environ|getenv|config|settings|self\.", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"your|my[-_]|the[-_]|test|example|dummy|fake|placeholder|change|not[-_]|none|null|true|false|x{3}|\*{3}|\$|"
    r"[A-Z_]+\Z|.*(?:key|token|secret|passw|passphrase)[a-z_-]*\Z"
)

_BODY = r"[!#$%*+./0-9:=?@A-Z^_a-z~-]"
_QUOTE = r"""\\{0,3}["']"""
_GAP = r"[ \t]{0,3}"
_NAMES = (*_STRONG, *_WEAK)
_FIRST = "".join(
    sorted({c for name in (*_NAMES, *_SCHEMES) for c in (name[0], name[0].upper())} | {n[0] for n in _PREFIXES})
)
_FORM = re.compile(
    rf"(?=[{_FIRST}])(?:"
    rf"(?P<named>(?i:(?P<name>{tree(_NAMES)}))(?:{_QUOTE})?{_GAP}(?P<sign>[:=]{_GAP})(?P<quote>{_QUOTE})?)"
    rf"(?P<value>{_BODY}{{8,{MAX_JUDGED}}}+)"
    rf"|(?P<scheme>\b(?i:{tree(_SCHEMES)})[ \t]{{1,3}})(?P<credentials>{_BODY}{{8,{MAX_JUDGED}}}+)"
    rf"|(?<![A-Za-z0-9_])(?P<prefix>{tree(_PREFIXES)})(?P<key>{_BODY}{{8,{MAX_JUDGED}}}+))",
    re.ASCII,
)
_SOME_BODY = f"{_BODY}{{0,{MAX_JUDGED - 1}}}+"
_BEGINNING = (
    rf"(?:(?i:{tree(_NAMES, partial=True)})|\b(?i:{tree(_SCHEMES, partial=True)})"
    rf"|(?<![A-Za-z0-9_])(?:{tree(_PREFIXES, partial=True)}))\Z"
)
_OPEN = re.compile(
    rf"(?=[{_FIRST}])(?:"
    rf"(?i:{tree(_NAMES)})\\{{0,3}}[\"']?{_GAP}(?:[:=]{_GAP}\\{{0,3}}[\"']?{_SOME_BODY})?\Z"
    rf"|\b(?i:{tree(_SCHEMES)})(?:[ \t]{{1,3}}{_SOME_BODY})?\Z"
    rf"|(?<![A-Za-z0-9_])(?:{tree(_PREFIXES)}){_SOME_BODY}\Z"
    rf"|{_BEGINNING})",
    re.ASCII,
)
_LEAD = re.compile(f"(?=[{_FIRST}])(?:(?i:{tree((*_NAMES, *_SCHEMES))})|{tree(_PREFIXES)})", re.ASCII)
_CUT_LEAD = re.compile(f"(?=[{_FIRST}]){_BEGINNING}", re.ASCII)
_MAX_LEAD = 64
_MAX_WORD = 16
_REST = re.compile(f"{_BODY}*")
_HINTS = ("key", "passw", "passphrase", "secret", "token", "pwd", *_SCHEMES, *(name.lower() for name in _PREFIXES))
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_KEY = {name: re.compile(_KEYS.get(name, r"[A-Za-z0-9-]{20}")) for name in _PREFIXES}


def may_hold_secrets(text: str) -> bool:
    """False when nothing in `text` can match: a quick look before the regex."""
    folded = text.lower()
    return any(hint in folded for hint in _HINTS)


class PatternStream:
    """Masks what looks like a secret in text that comes in pieces."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0  # what stands before is shown already and only kept as context for word boundaries
        self._swallowing = False

    def feed(self, text: str) -> str:
        return self._run(text, final=False)

    def flush(self, text: str = "") -> str:
        return self._run(text, final=True)

    def _run(self, piece: str, *, final: bool) -> str:
        text, at = self._text + piece, self._at
        shown: list[str] = []
        open_at = len(text) if final else -1
        has_lead = _LEAD.search(text, at) is not None
        while True:
            if self._swallowing:
                rest = _REST.match(text, at)
                at = rest.end() if rest else at
                self._swallowing = at == len(text)
            if open_at < at:
                # Most text has no whole lead: then only the start of one may stand at its very end.
                form, reach = (_OPEN, MAX_JUDGED + _MAX_LEAD) if has_lead else (_CUT_LEAD, _MAX_WORD)
                begun = form.search(text, max(at, len(text) - reach))
                open_at = begun.start() if begun else len(text)
            form = _FORM.search(text, at) if has_lead and open_at > at else None
            if form is None or form.start() >= open_at:
                break
            lead = form.end("named") if form["named"] else form.end("scheme") if form["scheme"] else form.start()
            if _secret(form, text[form.end() : form.end() + 1]):
                shown += (text[at:lead], MASK)
                at = form.end()
                self._swallowing = True
            else:
                resume = form.end("prefix") if form["prefix"] else lead
                shown.append(text[at:resume])
                at = resume
        shown.append(text[at:open_at])
        self._text, self._at = ("", 0) if final else (text[max(0, open_at - 1) :], min(1, open_at))
        return "".join(shown)


def _secret(form: re.Match[str], following: str) -> bool:
    """Whether the body of a form is a secret rather than code or prose; `following` is the character after it."""
    if form["prefix"]:
        return _KEY[form["prefix"]].match(form["key"]) is not None
    if form["scheme"]:
        body = form["credentials"]
        return not body.startswith("$") and (_mixed(body) or (len(body) >= 12 and _camel(body)))
    body, quoted = form["value"], form["quote"] is not None
    if _mixed(body):
        if quoted:
            return not body.startswith("$")
        code = following in ("(", "[") or _REFERENCE.search(body) or all(map(str.isidentifier, body.split(".")[:2]))
        if form["sign"] == "=":
            return following not in ("(", "[") and not _REFERENCE.search(body) and "." not in body
        return len(body) >= 16 and not code
    return bool(quoted and form["name"].lower() in _STRONG and not _PLACEHOLDER.match(body))


def _mixed(body: str) -> bool:
    return bool(_DIGIT.search(body) and _LETTER.search(body))


def _camel(body: str) -> bool:
    return any(map(str.islower, body)) and any(map(str.isupper, body[1:]))
