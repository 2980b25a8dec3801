"""Text as the words that search compares.

One rule: a query and what it looks for pass the same code, so whatever NFKC and case folding make equal is found.
Names keep their whole beside their parts (`getUserByID`, `snake_case`, `3.14`); Chinese, Japanese and Korean runs
become pairs of signs.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

MAX_TOKEN = 64
MAX_PARTS = 12
# Han with its extensions, the kana, Hangul syllables, and the signs that stand inside such words (々〆〇ー).
_CJK = (
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_CJK}]+|\d+(?:\.\d+)+|[^\W{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
# A lower-case letter before an upper-case one, the last capital of HTTPServer, letters beside digits, underscores.
_PART = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def document_tokens(text: str) -> Counter[str]:
    """How often each word is in a text that is searched. A run of CJK gives its pairs and its single signs."""
    return _tokens(text, signs=True)


def query_tokens(text: str) -> list[str]:
    """The words to look for, each once. Of CJK only pairs, and the sign itself where it stands alone."""
    return list(_tokens(text, signs=False))


def _tokens(text: str, *, signs: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for word, count in Counter(_WORD.findall(text)).items():
        for token in _pairs(word, signs) if _IS_CJK.match(word) else _names(word):
            found[token] += count
    return found


def _pairs(run: str, signs: bool) -> list[str]:
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return [*pairs, *run] if signs or not pairs else pairs


@lru_cache(maxsize=16_384)
def _names(word: str) -> tuple[str, ...]:
    """The whole word, then its parts when it has several; an endless one is cut and not taken apart."""
    whole = _folded(word[:MAX_TOKEN].strip("_"))
    if len(word) > MAX_TOKEN or (word.isalpha() and (word.islower() or word.istitle() or word.isupper())):
        return (whole,)
    parts = [_folded(part) for part in _PART.findall(word)]
    if len(parts) < 2 or len(parts) > MAX_PARTS:
        return (whole,) if whole else ()
    return tuple(dict.fromkeys((whole, *parts)))


def _folded(word: str) -> str:
    folded = word.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded)
