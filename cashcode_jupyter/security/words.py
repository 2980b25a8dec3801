"""One regex for many words."""

from __future__ import annotations

import re
from collections.abc import Iterable


def tree(words: Iterable[str], *, partial: bool = False) -> str:
    """A regex of `words`, the longest that fits, as a tree of characters: far fewer tries a position than a list.

    `partial` makes it match the beginnings of the words as well.
    """
    end = ""
    root: dict[str, dict] = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[end] = {}

    def render(node: dict[str, dict]) -> str:
        branches = [re.escape(character) + render(below) for character, below in node.items() if character != end]
        if not branches:
            return ""
        return f"(?:{'|'.join(branches)})" + ("?" if partial or end in node else "")

    return render(root).removesuffix("?")
