"""What the measurements of one run share: folders, the scripted model, one Jupyter server, one raw client."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks.children import Home
from benchmarks.model import Model, scripted_model
from benchmarks.raw import Raw, raw_client
from benchmarks.server import Server, jupyter_server

_NUMBERS = count(1)


@dataclass(frozen=True)
class Bench:
    """`quick` asks for few repeats and small sizes."""

    root: Path
    model: Model
    raw: Raw
    quick: bool = False

    def pick(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def home(self) -> Home:
        """Folders that nobody used yet, with the scripted model as the default."""
        return Home(self.root / f"home-{next(_NUMBERS)}").make(self.model.url)

    @contextmanager
    def server(self, home: Home | None = None, *, extension: bool = True) -> Iterator[Server]:
        with jupyter_server(home or self.home(), extension=extension) as server:
            yield server


@asynccontextmanager
async def bench(*, quick: bool = False) -> AsyncIterator[Bench]:
    """Everything ends, and every folder is gone, with the block."""
    with tempfile.TemporaryDirectory(prefix="cashcode-bench-") as folder:
        root = Path(folder)
        with scripted_model(root) as model:
            async with raw_client(model.url) as raw:
                yield Bench(root, model, raw, quick)
