"""Which path is answered by what: the OpenAI surface, Ollama's routes, and the mock's own log."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Collection, Sequence
from typing import Any

from cashcode_jupyter.testing import ollama
from cashcode_jupyter.testing.chunks import dumps
from cashcode_jupyter.testing.completions import Completions
from cashcode_jupyter.testing.http import Exchange
from cashcode_jupyter.testing.quirks import Response
from cashcode_jupyter.testing.quirks.refusals import refusal
from cashcode_jupyter.testing.records import RequestLog


class Routes:
    """`api_key` is asked for at every route but the log's; `loaded_window` is what Ollama says it really loaded.

    The models in `vision` see pictures, as Ollama tells it.
    """

    def __init__(
        self,
        log: RequestLog,
        completions: Completions,
        *,
        models: Sequence[str],
        context_window: int,
        loaded_window: int,
        api_key: str | None,
        vision: Collection[str] = (),
    ) -> None:
        self._log = log
        self._completions = completions
        self._models = models
        self._context_window = context_window
        self._loaded_window = loaded_window
        self._api_key = api_key
        self._vision = vision

    async def respond(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.path.startswith("/mock/"):
            response = await self._own(request.method, request.path)
        else:
            self._log.visits.append(f"{request.method} {request.path}")
            self._log.changed()
            if self._api_key is not None and request.headers.get("authorization") != f"Bearer {self._api_key}":
                response = refusal(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key")
            elif request.path.endswith("/chat/completions") and request.method == "POST":
                await self._completions.respond(exchange)
                return
            else:
                response = self._about_models(request.method, request.path, request.body)
        exchange.send(response.status, response.body, response.content_type, response.headers)

    async def _own(self, method: str, path: str) -> Response:
        if path == "/mock/log" and method == "DELETE":
            self._log.clear()
            return _json({"ok": True})
        if path == "/mock/log":
            records = list(self._log.requests)
            # The shared prefixes are worked out now, which takes a while for long chats.
            return await asyncio.to_thread(lambda: _json([record.summary() for record in records]))
        if path == "/mock/health":
            return _json({"ok": True, "pid": os.getpid()})
        return _nowhere(path)

    def _about_models(self, method: str, path: str, body: bytes) -> Response:
        reads = method in ("GET", "HEAD")
        if reads and path == "/api/version":
            return _json({"version": ollama.VERSION})
        if reads and path == "/api/tags":
            return _json(ollama.tags(self._models))
        if reads and path == "/api/ps":
            return _json(ollama.ps(self._models, self._loaded_window))
        if method == "POST" and path == "/api/show":
            status, value = ollama.show(_loaded(body), self._models, self._context_window, self._vision)
            return Response(status, dumps(value))
        if reads and path.endswith("/models"):
            return _json({"object": "list", "data": [_model(name) for name in self._models]})
        if reads and "/models/" in path:
            return _json(_model(path.partition("/models/")[2]))
        return _nowhere(path)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "mock"}


def _json(value: Any) -> Response:
    return Response(200, dumps(value))


def _nowhere(path: str) -> Response:
    return refusal(404, f"no route {path}", "invalid_request_error")


def _loaded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
