"""The models of all providers, for the picker, and the test of a connection before it is saved."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.connection_test import failed
from cashcode_jupyter.llm.discovery import FoundModel, list_models
from cashcode_jupyter.llm.endpoints import Endpoints
from cashcode_jupyter.llm.failures import endpoint_errors
from cashcode_jupyter.llm.knowledge import Knowledge, Place
from cashcode_jupyter.llm.settings import Endpoint, LlmStore
from cashcode_jupyter.protocol.errors import LlmError, LlmTimeout
from cashcode_jupyter.protocol.events import Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

LIST_TIMEOUT = 15.0
LOG = logs.log("llm")


class RegisteredModel(Protocol):
    @property
    def model(self) -> str: ...


class Starter(Protocol):
    """What is needed of the local model that we serve ourselves."""

    @property
    def n_ctx(self) -> int | None: ...
    @property
    def api_key(self) -> str: ...
    def registered(self) -> RegisteredModel | None: ...
    async def endpoint(self) -> str: ...


class Catalogue:
    """Lists models; what it finds is remembered in `Knowledge`."""

    def __init__(self, store: LlmStore, starter: Starter, endpoints: Endpoints, known: Knowledge) -> None:
        self._store = store
        self._starter = starter
        self._endpoints = endpoints
        self._known = known

    async def discover(self) -> dict[str, Any]:
        """The body of `GET settings/llm/models`; a provider that fails has its sentence in `error`."""
        ready = self._store.ready()
        names: tuple[Provider, ...] = ("openai_compatible", "ollama")
        providers: dict[str, dict[str, Any]] = {name: {"ready": name in ready} for name in names}
        rows: list[dict[str, Any]] = []
        answers = await asyncio.gather(*(self._listed(name) for name in ready))
        for name, answer in zip(ready, answers, strict=True):
            if isinstance(answer, LlmError):
                providers[name]["error"] = answer.detail
            else:
                url = self._store.endpoint(name).base_url
                rows += [
                    _row(name, model, self._known.profile(Place(name, url, model.id)).vision) for model in answer
                ]
        local = await asyncio.to_thread(self._starter.registered)
        providers["starter"] = {"ready": local is not None}
        if local:
            rows.append(_row("starter", FoundModel(local.model, self._starter.n_ctx), vision=False))
        return {"models": rows, "providers": providers}

    async def test(self, body: Any, *, connect_timeout: float) -> dict[str, Any]:
        """The body of `POST settings/llm/test`. Stores nothing; a failure is an `LlmError` with status 400."""
        candidates = self._store.candidate(body)
        total = 0
        for provider, endpoint in candidates.items():
            trial = Endpoints(connect_timeout=connect_timeout)
            try:
                total += len(await _list(trial, provider, endpoint, windows=False))
            except LlmError as error:
                logs.event(LOG, logging.INFO, "llm.test_failed", provider=provider, code=error.code)
                raise failed(error) from error
            finally:
                await trial.aclose()
        return {
            "success": True,
            "provider": next(iter(candidates)),
            "model_count": total,
            "message": _("Connected; models found: {count}.").format(count=total),
        }

    async def names(self, place: Place) -> Sequence[str]:
        """The models that the server of `place` has; empty when it does not tell."""
        if place.provider != "starter" and not self._known.names(place):
            await self._listed(place.provider, windows=False)
        return self._known.names(place)

    async def _listed(self, provider: Provider, *, windows: bool = True) -> list[FoundModel] | LlmError:
        endpoint = self._store.endpoint(provider)
        try:
            found = await _list(self._endpoints, provider, endpoint, windows=windows)
        except LlmError as error:
            logs.event(LOG, logging.INFO, "llm.discovery_failed", provider=provider, code=error.code)
            return error
        self._known.found(provider, endpoint.base_url, found)
        return found


async def _list(endpoints: Endpoints, provider: Provider, endpoint: Endpoint, *, windows: bool) -> list[FoundModel]:
    try:
        async with asyncio.timeout(LIST_TIMEOUT), endpoints.lease(provider, endpoint) as client:
            with endpoint_errors(endpoint):
                return await list_models(client, provider, windows=windows)
    except TimeoutError:
        raise LlmTimeout(_("The model server did not list its models in time.")) from None


def _row(provider: Provider, model: FoundModel, vision: bool | None) -> dict[str, Any]:
    row: dict[str, Any] = {"provider": provider, "id": model.id}
    if model.context_window:
        row["context_window"] = model.context_window
    return row if vision is None else row | {"vision": vision}
