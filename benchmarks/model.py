"""The scripted model in a process of its own, so that what it costs is not counted against anybody."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.children import Home, child, until


@dataclass(frozen=True)
class Model:
    """Where it listens, and its log: times of the machine's monotonic clock in nanoseconds."""

    origin: str

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def log(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.origin}/mock/log") as answer:
            return json.load(answer)

    def clear(self) -> None:
        request = urllib.request.Request(f"{self.origin}/mock/log", method="DELETE")
        urllib.request.urlopen(request).close()

    def seconds(self) -> float:
        """How long the logged requests took at the model, from the whole request read to the last byte written."""
        return sum(record["last_ns"] - record["recv_ns"] for record in self.log()) / 1e9


@contextmanager
def scripted_model(root: Path) -> Iterator[Model]:
    output = root / "model.log"
    with child([sys.executable, "-m", "cashcode_jupyter.testing"], Home(root).environment(), output) as process:
        port = until(process, output, lambda: re.search(r"READY (\d+)\n", output.read_text()))[1]
        yield Model(f"http://127.0.0.1:{port}")
