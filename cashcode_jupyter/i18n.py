"""Sentences for people, in the person's language (English and Simplified Chinese).

One rule: wire facts (codes, field names, the seed's rejection sentences) are never translated, everything
else that a person reads goes through `_`. The catalogue loads with the first translated sentence.
"""

from __future__ import annotations

import gettext
import locale
import os
from functools import cache
from pathlib import Path

DOMAIN = "cashcode_jupyter"
VARIABLES = ("CASHCODE_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
LOCALE_DIR = Path(__file__).parent / "locale"


def language() -> str:
    """The wanted language: `CASHCODE_LANG`, else the process's locale, e.g. `zh_CN`; `en` when neither says."""
    for name in VARIABLES:
        value = os.environ.get(name, "").partition(".")[0]
        if value and value not in ("C", "POSIX"):
            return value.replace("-", "_")
    return _process_language()


@cache
def _process_language() -> str:
    return (locale.getlocale()[0] or "en").replace("-", "_")


@cache
def _catalogue(wanted: str) -> gettext.NullTranslations:
    names = [wanted, "zh_CN"] if wanted.lower().startswith("zh") else [wanted]
    return gettext.translation(DOMAIN, LOCALE_DIR, names, fallback=True)


def _(message: str) -> str:
    """`message` in the person's language; fill its `{fields}` afterwards with `str.format`."""
    return _catalogue(language()).gettext(message)
