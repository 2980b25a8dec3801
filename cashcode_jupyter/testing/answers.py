"""What is answered without a directive: by the first rule that fits the last user message, else by a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cashcode_jupyter.testing.directive import DIRECTIVE, Directive, parse

ECHOED = 200


class Answers:
    """Rules from a substring or regular expression (both ignore case) to an answer, in the order given.

    An answer that is a whole `[[mock:...]]` directive is acted on, so a notebook can show plain questions and
    still drive tool rounds. `default` replaces the sentence that repeats what was asked. Raises DirectiveError
    for a wrong directive.
    """

    def __init__(
        self, rules: Mapping[str, str] | Mapping[re.Pattern[str], str] | None = None, default: str | None = None
    ) -> None:
        self._rules = [(_matcher(key), _directive(text)) for key, text in (rules or {}).items()]
        self._default = None if default is None else _directive(default)

    def rule_for(self, asked: str) -> Directive | None:
        for (plain, pattern), answer in self._rules:
            if plain and plain in asked.casefold():
                return answer
            if pattern is not None and pattern.search(asked):
                return answer
        return None

    def default_for(self, asked: str) -> Directive:
        if self._default is not None:
            return self._default
        if not asked.strip():
            return Directive(text="You said nothing.")
        return Directive(text=f"You said: {asked[:ECHOED]}{'…' if len(asked) > ECHOED else ''}")


def _matcher(key: str | re.Pattern[str]) -> tuple[str, re.Pattern[str] | None]:
    if isinstance(key, re.Pattern):
        return "", key
    try:
        return key.casefold(), re.compile(key, re.IGNORECASE)
    except re.error:
        return key.casefold(), None


def _directive(text: str) -> Directive:
    whole = DIRECTIVE.fullmatch(text.strip())
    return parse(whole.group(1)) if whole else Directive(text=text)
