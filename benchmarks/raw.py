"""The floor: a bare httpx2 client that streams, and a loop around it that answers tool calls with nothing."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2

NOOP = {
    "type": "function",
    "function": {
        "name": "noop",
        "description": "Do nothing.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False},
    },
}


class Raw:
    """One kept-alive client. Times are seconds."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def events(self, messages: Sequence[dict[str, Any]], *, tools: bool = False) -> AsyncIterator[Any]:
        """The decoded events of one streamed completion."""
        body: dict[str, Any] = {"model": "mock", "messages": messages, "stream": True}
        if tools:
            body["tools"] = [NOOP]
        rest = b""
        async with self._client.stream("POST", "chat/completions", json=body) as response:
            response.raise_for_status()
            async for block in response.aiter_raw():
                *lines, rest = (rest + block).split(b"\n\n")
                for line in lines:
                    if line[6:] != b"[DONE]":
                        yield json.loads(line[6:])

    async def first_delta(self, prompt: str) -> float:
        """Seconds from the request to the first piece of text; the answer is read to its end."""
        started = time.perf_counter()
        first = 0.0
        async for event in self.events([{"role": "user", "content": prompt}]):
            if not first and event["choices"] and event["choices"][0]["delta"].get("content"):
                first = time.perf_counter() - started
        return first

    async def turn(self, prompt: str, history: Sequence[dict[str, Any]] = ()) -> float:
        """Seconds of a turn with whatever tool rounds the model asks for."""
        started = time.perf_counter()
        messages = [*history, {"role": "user", "content": prompt}]
        while True:
            calls: list[dict[str, Any]] = []
            async for event in self.events(messages, tools=True):
                delta = event["choices"][0]["delta"] if event["choices"] else {}
                calls += delta.get("tool_calls") or ()
            if not calls:
                return time.perf_counter() - started
            kept = [{name: value for name, value in call.items() if name != "index"} for call in calls]
            messages.append({"role": "assistant", "content": None, "tool_calls": kept})
            messages += ({"role": "tool", "tool_call_id": call["id"], "content": "done"} for call in kept)


@asynccontextmanager
async def raw_client(url: str) -> AsyncIterator[Raw]:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=200)
    async with httpx2.AsyncClient(base_url=url, timeout=120, limits=limits, trust_env=False) as client:
        yield Raw(client)
