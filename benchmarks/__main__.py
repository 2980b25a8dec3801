"""`python -m benchmarks [--quick] [--only first_delta,tool_round] [--json FILE]`: one row per goal.

Exit status 1 when a goal could not be measured; a missed limit is in the table, it is no failure of the run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.bench import bench
from benchmarks.goals import GOALS
from benchmarks.rows import Row, table


def _chosen(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in GOALS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join(GOALS)}")
    return names


async def measure(names: list[str], *, quick: bool) -> tuple[list[Row], list[str]]:
    """The rows of these goals, and the goals that could not be measured."""
    rows: list[Row] = []
    failed: list[str] = []
    async with bench(quick=quick) as shared:
        for name in names:
            started = time.monotonic()
            try:
                rows += await GOALS[name](shared)
            except Exception:  # whatever breaks one goal leaves the others to be measured
                logging.exception("%s could not be measured", name)
                failed.append(name)
            print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return rows, failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats and small sizes, about a minute")
    parser.add_argument("--only", type=_chosen, default=list(GOALS), metavar="GOAL,...", help=", ".join(GOALS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here as well")
    options = parser.parse_args()
    rows, failed = asyncio.run(measure(options.only, quick=options.quick))
    print(table(rows))
    print(f"\n{os.cpu_count()} processors, load {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    if failed:
        print(f"not measured: {', '.join(failed)}")
    if options.json:
        found = [asdict(row) | {"verdict": row.verdict} for row in rows]
        options.json.write_text(json.dumps({"rows": found, "not_measured": failed}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
