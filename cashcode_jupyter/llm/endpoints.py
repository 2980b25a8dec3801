"""The HTTP clients: one a provider, kept open, replaced when its settings change.

One rule: a client sends its endpoint's key to its endpoint and nothing else. Environment variables of the OpenAI
SDK are not read, redirects are not followed, and no proxy stands before a loopback address.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.addresses import is_loopback
from cashcode_jupyter.llm.settings import Endpoint
from cashcode_jupyter.protocol.errors import LlmUnreachable
from cashcode_jupyter.protocol.events import Provider

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

    class ModelClient(AsyncOpenAI):
        """AsyncOpenAI, and its transport for the one request that must be fast."""

        async def complete(self, body: bytes) -> httpx2.Response:
            """Stream the answer to `body`, sent to `/chat/completions` as it is.

            Through the SDK's own `post` the same costs half a millisecond more, most of it in options that we do
            not use. Raises `APIStatusError` for an error status, with the answer read.
            """
            ...


NO_KEY = "not-needed"
KEEP_ALIVE = 60.0


@dataclass
class _Held:
    endpoint: Endpoint
    client: ModelClient
    leases: int = 0
    retired: bool = False


class Endpoints:
    """Lends clients. A client whose settings changed is closed when the last turn that uses it gives it back."""

    def __init__(self, *, connect_timeout: float) -> None:
        self._connect_timeout = connect_timeout
        self._held: dict[Provider, _Held] = {}
        self._building = asyncio.Lock()

    @asynccontextmanager
    async def lease(self, provider: Provider, endpoint: Endpoint) -> AsyncIterator[ModelClient]:
        """The client for `endpoint`, for the time of the block."""
        held = await self._current(provider, endpoint)
        held.leases += 1
        try:
            yield held.client
        finally:
            held.leases -= 1
            if held.retired and not held.leases:
                await held.client.close()

    async def _current(self, provider: Provider, endpoint: Endpoint) -> _Held:
        held = self._held.get(provider)
        if held and held.endpoint == endpoint:
            return held
        async with self._building:
            held = self._held.get(provider)
            if held and held.endpoint == endpoint:
                return held
            client = await asyncio.to_thread(build_client, endpoint, self._connect_timeout)
            self._held[provider] = fresh = _Held(endpoint, client)
        if held:
            await _retire(held)
        return fresh

    async def aclose(self) -> None:
        """Close what nobody uses; the rest closes with its last lease."""
        held, self._held = list(self._held.values()), {}
        for one in held:
            await _retire(one)


async def _retire(held: _Held) -> None:
    held.retired = True
    if not held.leases:
        await held.client.close()


def build_client(endpoint: Endpoint, connect_timeout: float) -> ModelClient:
    """A client for one endpoint. Slow with the first call (imports), so it is called in a thread."""
    import httpx2
    from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpx2Client

    class EndpointClient(AsyncOpenAI):
        """Sends no organisation, project, telemetry or custom headers, which the SDK takes from the environment."""

        @property
        def default_headers(self) -> dict[str, str]:  # pyright: ignore[reportIncompatibleMethodOverride]
            return {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "CashCode"}

        async def complete(self, body: bytes) -> httpx2.Response:
            request = httpx2.Request("POST", url, headers=headers, content=body, extensions=extensions)
            response = await http.send(request, stream=True)
            if response.is_success:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
            raise APIStatusError(f"status {response.status_code}", response=response, body=None)

    loopback = is_loopback(endpoint.base_url)
    try:
        http = DefaultAsyncHttpx2Client(
            trust_env=not loopback,
            verify=_trust(endpoint.base_url, loopback),
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=KEEP_ALIVE),
        )
    except ImportError:
        raise LlmUnreachable(
            _("The proxy in the environment (ALL_PROXY) needs another package: pip install 'httpx2[socks]'.")
        ) from None
    key = endpoint.api_key or NO_KEY
    # Silence is timed in `stream.py`, where a keep-alive comment and a token differ.
    timeout = httpx2.Timeout(None, connect=connect_timeout, pool=connect_timeout)
    url = httpx2.URL(f"{endpoint.base_url.rstrip('/')}/chat/completions")
    headers = httpx2.Headers(
        {
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": http.headers["Accept-Encoding"],
            "Content-Type": "application/json",
            "User-Agent": "CashCode",
            "Authorization": f"Bearer {key}",
        }
    )
    extensions = {"timeout": timeout.as_dict()}
    client = EndpointClient(
        base_url=endpoint.base_url, api_key=key, max_retries=0, timeout=timeout, http_client=http
    )
    return cast("ModelClient", client)


def _trust(url: str, loopback: bool) -> ssl.SSLContext:
    """The system's authorities or `SSL_CERT_FILE`; nobody's where no TLS is spoken, which loads faster."""
    if loopback and url.startswith("http://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpx2

    return httpx2.create_ssl_context()
