"""One model request on the wire: the body out, the answer in, whatever kind of answer it is.

One rule: silence ends. Until the first token the server has `first` seconds, or `idle` after the last byte if
that is later; after it, `idle` between two bytes of any kind, keep-alive comments included.
"""

from __future__ import annotations

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.accumulate import Accumulator
from cashcode_jupyter.llm.completion import Completion
from cashcode_jupyter.llm.errors import FirstByteTimeout, web_page
from cashcode_jupyter.llm.sse import LONGEST_EVENT, EventDecoder, parse_body
from cashcode_jupyter.protocol.errors import LlmProtocol, LlmTimeout

if TYPE_CHECKING:
    from cashcode_jupyter.llm.endpoints import ModelClient

AFTER_DONE = 0.2
AFTER_FINISH = 5.0


@dataclass(frozen=True)
class Patience:
    """Seconds: `first` until the first token, `idle` between two bytes afterwards."""

    first: float
    idle: float


class _Clock:
    """Moves one `asyncio.timeout` along, but not with every chunk."""

    def __init__(self, timer: asyncio.Timeout, patience: Patience) -> None:
        self._timer = timer
        self._now = asyncio.get_running_loop().time
        self._patience = patience
        self._start = self._now()
        self._slack = min(1.0, patience.idle / 10)
        self._armed = 0.0
        self._started = self._finished = False

    def bytes_came(self, answer: Accumulator) -> None:
        now = self._now()
        if self._finished or (self._started and now - self._armed < self._slack and not answer.finished):
            return
        self._armed = now
        self._started = answer.started
        if answer.finished:
            self._finished = True
            self._timer.reschedule(now + min(AFTER_FINISH, self._patience.idle))
        elif self._started:
            self._timer.reschedule(now + self._patience.idle + self._slack)
        else:
            pause = min(self._patience.idle, self._patience.first)
            self._timer.reschedule(max(self._start + self._patience.first, now + pause))


async def stream_once(client: ModelClient, body: bytes, answer: Accumulator, patience: Patience) -> Completion:
    """Send `body` to `/chat/completions` and feed the answer; cancelling closes the connection.

    Raises `LlmTimeout` and `LlmProtocol`, what the accumulator raises, and the exceptions of openai and httpx2 for
    error statuses and broken connections.
    """
    import httpx2

    try:
        async with asyncio.timeout(patience.first) as timer:
            clock = _Clock(timer, patience)
            response = await client.complete(body)
            try:
                async with aclosing(response.aiter_bytes()) as blocks:
                    return await _read(blocks, answer, clock)
            finally:
                await response.aclose()
    except TimeoutError:
        if answer.finished:
            return answer.finish(done=False)
        raise _silence(answer, patience) from None
    except httpx2.TransportError:
        if answer.finished:
            return answer.finish(done=False)
        raise


def _silence(answer: Accumulator, patience: Patience) -> LlmTimeout:
    if answer.started:
        sentence = _("The model server fell silent in the middle of the answer ({seconds:g} s).")
        return LlmTimeout(sentence.format(seconds=patience.idle))
    sentence = _("The model server did not begin to answer within {seconds:g} s.")
    return FirstByteTimeout(sentence.format(seconds=patience.first))


async def _read(blocks: AsyncIterator[bytes], answer: Accumulator, clock: _Clock) -> Completion:
    head = b""
    async for block in blocks:
        head += block
        clock.bytes_came(answer)
        if len(start := head.lstrip()) >= len(BOM_UTF8) or (start and not BOM_UTF8.startswith(start)):
            break
    first = head.lstrip().removeprefix(BOM_UTF8)[:1]
    if first == b"<":
        raise web_page()
    if first in (b"{", b"["):
        return await _read_body(head, blocks, answer, clock)
    return await _read_events(head, blocks, answer, clock)


async def _read_events(head: bytes, blocks: AsyncIterator[bytes], answer: Accumulator, clock: _Clock) -> Completion:
    decoder = EventDecoder()
    _take(decoder, decoder.feed(head), answer)
    clock.bytes_came(answer)
    if not decoder.done:
        async for block in blocks:
            for payload in decoder.feed(block):
                answer.feed(payload)
            if decoder.broken or decoder.done:
                break
            clock.bytes_came(answer)
        _take(decoder, [] if decoder.done else decoder.flush(), answer)
    if decoder.done:
        await _drain(blocks)
    return answer.finish(done=decoder.done)


def _take(decoder: EventDecoder, payloads: list[Any], answer: Accumulator) -> None:
    for payload in payloads:
        answer.feed(payload)
    if decoder.broken:
        raise LlmProtocol(_("The model server sent an event that is not JSON."))


async def _drain(blocks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body, so that the connection can serve the next request. The answer is whole."""
    import httpx2

    try:
        async with asyncio.timeout(AFTER_DONE):
            async for _block in blocks:
                pass
    except (TimeoutError, httpx2.TransportError):
        return


async def _read_body(head: bytes, blocks: AsyncIterator[bytes], answer: Accumulator, clock: _Clock) -> Completion:
    parts, size = [head], len(head)
    async for block in blocks:
        clock.bytes_came(answer)
        parts.append(block)
        size += len(block)
        if size > LONGEST_EVENT:
            raise LlmProtocol(_("The model server's answer is too large."))
    try:
        payloads = parse_body(b"".join(parts))
    except ValueError:
        raise LlmProtocol(_("The model server's answer is not JSON.")) from None
    for payload in payloads:
        answer.feed(payload)
    return answer.finish(done=False, whole_body=True)
