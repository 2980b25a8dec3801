"""One scripted model and one real Jupyter server for all gates; each test uses a chat of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from benchmarks.chat import Chat, socket
from benchmarks.children import Home
from benchmarks.server import Server, jupyter_server
from cashcode_jupyter.testing import ScriptedModel


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture(scope="session")
def server(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter_server(Home(tmp_path_factory.mktemp("server")).make(model.url)) as server:
        yield server


@pytest_asyncio.fixture
async def chat(server: Server, model: ScriptedModel) -> AsyncIterator[Chat]:
    """A new chat over a WebSocket; the model's log is empty."""
    async with socket(server) as chat:
        model.clear()
        yield chat


@pytest.fixture
def home(tmp_path, model: ScriptedModel) -> Home:
    return Home(tmp_path / "home").make(model.url)
