"""A scripted model, and `Models` that are set to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cashcode_jupyter.config import Settings
from cashcode_jupyter.llm.client import Completion, ModelRequest, Models
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.llm.settings import LlmStore
from cashcode_jupyter.protocol.errors import LlmError
from cashcode_jupyter.protocol.events import ModelChoice, Provider
from cashcode_jupyter.testing import ScriptedModel

TOOLS = tuple(
    {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}},
    }
    for name in ("glob", "read_file")
)


class NoLocalModel:
    """A machine without the starter model."""

    n_ctx = None
    api_key = ""

    def registered(self) -> None:
        return None

    async def endpoint(self) -> str:
        raise AssertionError("there is no local model")


@dataclass
class Heard:
    """What the callbacks of one request were given."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    retries: list[tuple[LlmError, int, float]] = field(default_factory=list)

    def retry(self, error: LlmError, attempt: int, delay: float) -> None:
        self.retries.append((error, attempt, delay))


@dataclass
class Asker:
    """Asks the scripted model one question."""

    models: Models
    store: LlmStore
    server: ScriptedModel
    heard: Heard = field(default_factory=Heard)

    async def ask(
        self,
        prompt: str = "[[mock:text,text=Hello%20there]]",
        *,
        tools: Sequence[dict[str, Any]] = (),
        provider: Provider = "openai_compatible",
        model: str = "mock",
        messages: Callable[[Profile], bytes] | None = None,
        **rest: Any,
    ) -> Completion:
        self.heard = Heard()

        def plain(profile: Profile) -> bytes:
            return json.dumps([{"role": "user", "content": prompt}]).encode()

        request = ModelRequest(ModelChoice(provider=provider, model=model), messages or plain, tools=tools, **rest)
        return await self.models.stream(
            request,
            on_text=self.heard.text.append,
            on_reasoning=self.heard.reasoning.append,
            on_retry=self.heard.retry,
        )


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def store(tmp_path: Path, server: ScriptedModel) -> LlmStore:
    store = LlmStore(tmp_path / "settings" / "llm.json", {})
    store.update({"openai_compatible": {"base_url": server.url}, "ollama": {"base_url": server.origin}})
    return store


@pytest_asyncio.fixture
async def asker(store: LlmStore, server: ScriptedModel) -> AsyncIterator[Asker]:
    settings = Settings.load({}, first_token_timeout=10.0, idle_timeout=10.0, max_retries=0)
    models = Models(store, settings, NoLocalModel())
    yield Asker(models, store, server)
    await models.aclose()


@pytest_asyncio.fixture
async def make_asker(store: LlmStore, server: ScriptedModel) -> AsyncIterator[Callable[..., Asker]]:
    """An asker with settings of its own."""
    made: list[Models] = []

    def make(**settings: Any) -> Asker:
        models = Models(store, Settings.load({}, **{"max_retries": 0, **settings}), NoLocalModel())
        made.append(models)
        return Asker(models, store, server)

    yield make
    for models in made:
        await models.aclose()
