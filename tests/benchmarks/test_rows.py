"""The table says what kept its limit and what did not."""

from __future__ import annotations

from benchmarks.measure import interleaved
from benchmarks.rows import Row, table


def test_a_row_passes_at_its_limit_and_misses_beyond_it():
    assert Row("goal", "", 2.0, 2.0, "").verdict == "pass"
    assert Row("goal", "", 2.01, 2.0, "").verdict == "MISS"


def test_a_row_of_a_rate_passes_above_its_limit():
    assert Row("goal", "", 0.7, 0.6, "", at_least=True).verdict == "pass"
    assert Row("goal", "", 0.5, 0.6, "", at_least=True).verdict == "MISS"


def test_a_row_without_a_limit_only_reports():
    assert Row("goal", "", 99, None, "").verdict == "report"


def test_the_table_has_a_line_for_each_row_and_columns_of_one_width():
    lines = table([Row("a", "1 ms", 1, 2, "how"), Row("much longer", "1 ms", 1, 2, "")]).splitlines()
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1


async def test_cases_take_turns_and_warm_rounds_do_not_count():
    order: list[str] = []

    async def case(name: str) -> float:
        order.append(name)
        return len(order)

    medians = await interleaved({"a": lambda: case("a"), "b": lambda: case("b")}, 3, warm=1)
    assert order == ["a", "b"] * 4
    assert medians == {"a": 5, "b": 6}
