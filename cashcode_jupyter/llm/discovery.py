"""Which models a server has, and how much context they take, asked in each provider's own way.

One rule: a server that does not answer, or answers nonsense, costs its own rows only.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.errors import web_page
from cashcode_jupyter.llm.sse import parse_body
from cashcode_jupyter.llm.vision import vision_of
from cashcode_jupyter.protocol.errors import LlmProtocol
from cashcode_jupyter.protocol.events import Provider

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MOST_MODELS = 500
LONGEST_ID = 256
SHOWS_AT_ONCE = 8
_WINDOWS = ("context_window", "context_length", "max_model_len", "max_context_length", "loaded_context_length")
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class FoundModel:
    """One model of a server; `context_window` in tokens and whether it sees pictures where the server says."""

    id: str
    context_window: int | None = None
    vision: bool | None = None


@dataclass(frozen=True)
class OllamaFacts:
    """What `/api/show` and `/api/ps` say of one model. `loaded`: the window is that of the running model."""

    context_window: int | None
    loaded: bool
    tools: bool | None
    vision: bool | None


@dataclass(frozen=True)
class _Shown:
    """What `/api/show` says: the context it was trained for and that of its file, and what it can do."""

    trained: int | None = None
    set_by_file: int | None = None
    tools: bool | None = None
    vision: bool | None = None


async def list_models(client: AsyncOpenAI, provider: Provider, *, windows: bool = True) -> list[FoundModel]:
    """At most 500 models in the order of their names; `windows`: Ollama is asked for each one's context too.

    Raises `LlmProtocol`, and what the HTTP client raises.
    """
    if provider == "ollama":
        found = _found(_rows(await _get(client, "/api/tags"), "models", "data"))
        return await _with_windows(client, found) if windows else found
    return _found(_rows(await _get(client, "/models"), "data", "models"))


async def ollama_facts(client: AsyncOpenAI, model: str) -> OllamaFacts:
    """The context that Ollama really gives: of the running model, else `num_ctx`, else what it was trained for."""
    shown, running = await asyncio.gather(_show(client, model), _running(client, model))
    return OllamaFacts(
        running or shown.set_by_file or shown.trained,
        loaded=running is not None,
        tools=shown.tools,
        vision=shown.vision,
    )


async def _with_windows(client: AsyncOpenAI, found: list[FoundModel]) -> list[FoundModel]:
    gate = asyncio.Semaphore(SHOWS_AT_ONCE)

    async def one(model: FoundModel) -> FoundModel:
        async with gate:
            shown = await _show(client, model.id)
        return FoundModel(model.id, shown.set_by_file or shown.trained, shown.vision)

    return list(await asyncio.gather(*(one(model) for model in found)))


async def _show(client: AsyncOpenAI, model: str) -> _Shown:
    import httpx2
    import openai

    try:
        answer = await _ask(client, "POST", "/api/show", {"model": model})
    except (openai.APIError, httpx2.HTTPError, LlmProtocol):
        return _Shown()
    if not isinstance(answer, dict):
        return _Shown()
    info = answer.get("model_info")
    lengths = (
        (value for key, value in info.items() if key.endswith(".context_length")) if isinstance(info, dict) else ()
    )
    parameters = answer.get("parameters")
    set_by_file = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    abilities = answer.get("capabilities")
    return _Shown(
        trained=next((n for n in lengths if _is_size(n)), None),
        set_by_file=int(set_by_file[1]) if set_by_file else None,
        tools="tools" in abilities if isinstance(abilities, list) and abilities else None,
        vision=vision_of(answer),
    )


async def _running(client: AsyncOpenAI, model: str) -> int | None:
    import httpx2
    import openai

    try:
        answer = await _get(client, "/api/ps")
    except (openai.APIError, httpx2.HTTPError, LlmProtocol):
        return None
    for row in _rows(answer, "models"):
        if isinstance(row, dict) and {row.get("name"), row.get("model")} & {model, f"{model}:latest"}:
            size = row.get("context_length")
            return size if _is_size(size) else None
    return None


async def _get(client: AsyncOpenAI, path: str) -> Any:
    return await _ask(client, "GET", path, None)


async def _ask(client: AsyncOpenAI, method: str, path: str, body: Any) -> Any:
    import httpx2

    base = str(client.base_url).rstrip("/")
    if path.startswith("/api/"):  # Ollama's own API lives beside `/v1`
        base = base.removesuffix("/v1")
    if method == "GET":
        response = await client.get(base + path, cast_to=httpx2.Response)
    else:
        response = await client.post(base + path, body=body, cast_to=httpx2.Response)
    if response.content.lstrip()[:1] == b"<":
        raise web_page()
    try:
        return parse_body(response.content)[0]
    except (ValueError, IndexError):
        raise LlmProtocol(_("The model server's list of models is not JSON.")) from None


def _rows(answer: Any, *names: str) -> list[Any]:
    if isinstance(answer, list):
        return answer
    if isinstance(answer, dict):
        for name in names:
            if isinstance(rows := answer.get(name), list):
                return rows
        if any(answer.get(name, 0) is None for name in names):
            return []  # Ollama without models
    raise LlmProtocol(_("The model server's list of models has an unknown form."))


def _found(rows: Iterable[Any]) -> list[FoundModel]:
    found: dict[str, FoundModel] = {}
    for row in rows:
        name = row if isinstance(row, str) else _name(row)
        name = name.strip()
        if name and len(name) <= LONGEST_ID and name.isprintable() and name not in found:
            found[name] = FoundModel(name, _window(row), vision_of(row))
        if len(found) == MOST_MODELS:
            break
    return sorted(found.values(), key=lambda model: (model.id.casefold(), model.id))


def _name(row: Any) -> str:
    if not isinstance(row, dict):
        return ""
    return next((value for key in ("id", "model", "name") if isinstance(value := row.get(key), str)), "")


def _window(row: Any) -> int | None:
    if not isinstance(row, dict):
        return None
    meta = row.get("meta")
    if isinstance(meta, dict):  # llama.cpp
        row = {**row, "context_window": meta.get("n_ctx") or meta.get("n_ctx_train")}
    return next((row[name] for name in _WINDOWS if _is_size(row.get(name))), None)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
