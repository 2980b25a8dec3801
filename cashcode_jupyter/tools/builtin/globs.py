"""File name patterns: `*`, `?`, `[…]`, `{a,b}` within a name and `**` for any number of folders.

A pattern without `/` counts at any depth, as people mean it. Matching takes time linear in pattern times path,
whatever the pattern.
"""

from __future__ import annotations

import fnmatch
import re

from cashcode_jupyter.tools.base import ToolProblem

MAX_PATTERN = 1000
MAX_ALTERNATIVES = 64
_MAGIC = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class PathPattern:
    """One pattern. `start` is its fixed folder, which a walk can begin in; the rest is matched below that."""

    def __init__(self, pattern: str) -> None:
        pattern = pattern.strip()
        self.folders_only = pattern.endswith("/")
        names = pattern.rstrip("/").split("/")
        if not any(names) or len(pattern) > MAX_PATTERN:
            raise ToolProblem(f"The pattern must have 1 to {MAX_PATTERN:,} characters, e.g. '**/*.py'.")
        fixed = next((at for at, name in enumerate(names[:-1]) if _MAGIC.search(name)), len(names) - 1)
        self.start = "/".join(names[:fixed]) or ("/" if fixed else "")
        rest = names[fixed:] if len(names) > 1 else ["**", *names]
        self._ways = [[_name(name) for name in way] for way in _expanded(rest)]

    def matches(self, path: str) -> bool:
        """Whether `path`, relative to `start`, fits."""
        names = path.split("/")
        return any(_fits(way, names) for way in self._ways)


def _expanded(names: list[str]) -> list[list[str]]:
    """The alternatives of `{a,b}` written out, which may hold slashes; raises `ToolProblem` for a `..` in one."""
    ways = ["/".join(names)]
    while braces := next((found for way in ways if (found := _BRACES.search(way))), None):
        way = braces.string
        ways.remove(way)
        ways += [way[: braces.start()] + choice + way[braces.end() :] for choice in braces[1].split(",")]
        if len(ways) > MAX_ALTERNATIVES:
            raise ToolProblem(f"The pattern has more than {MAX_ALTERNATIVES} alternatives.")
    found = [[name for name in way.split("/") if name not in ("", ".")] for way in ways]
    if any(".." in way for way in found):
        raise ToolProblem("'..' cannot follow a wildcard in a pattern; give the folder in path instead.")
    return found


def _name(name: str) -> re.Pattern[str] | None:
    """None stands for `**`."""
    return None if name == "**" else re.compile(fnmatch.translate(name))


def _fits(way: list[re.Pattern[str] | None], names: list[str]) -> bool:
    """Walk all positions in the pattern that the names so far can have led to."""
    at = _past_stars(way, {0})
    for name in names:
        step = set()
        for position in at:
            if position == len(way):
                continue
            part = way[position]
            if part is None:
                step.add(position)
            elif part.match(name):
                step.add(position + 1)
        at = _past_stars(way, step)
    return len(way) in at


def _past_stars(way: list[re.Pattern[str] | None], positions: set[int]) -> set[int]:
    reached = set(positions)
    for position in sorted(positions):
        while position < len(way) and way[position] is None:
            position += 1
            reached.add(position)
    return reached
