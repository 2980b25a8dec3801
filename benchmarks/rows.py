"""One row of the table: a goal, what was measured for it, and whether that keeps the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`ratio` is what `limit` is about; without a limit the row only reports. `how` says what stands behind it."""

    goal: str
    measured: str
    ratio: float
    limit: float | None
    how: str
    at_least: bool = False
    unit: str = "x"

    @property
    def passed(self) -> bool | None:
        if self.limit is None:
            return None
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    @property
    def verdict(self) -> str:
        return {True: "pass", False: "MISS", None: "report"}[self.passed]

    def cells(self) -> list[str]:
        sign = ">=" if self.at_least else "<="
        limit = "" if self.limit is None else f"{sign} {self.limit:g}{self.unit}"
        return [self.goal, self.measured, f"{self.ratio:.3g}{self.unit}", limit, self.verdict, self.how]


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


HEAD = ("goal", "measured", "ratio", "limit", "", "how")


def table(rows: Sequence[Row]) -> str:
    """A Markdown table."""
    lines = [list(HEAD), *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    lines.insert(1, ["-" * width for width in widths])
    padded = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(f"| {line} |" for line in padded)
