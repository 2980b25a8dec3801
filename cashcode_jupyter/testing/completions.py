"""`POST /v1/chat/completions`: reads what was asked for, answers it, and keeps the record of how it went."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import Any

from cashcode_jupyter.testing.answers import Answers
from cashcode_jupyter.testing.chunks import base_of, dumps, plain_frames, stream_of, whole_of
from cashcode_jupyter.testing.directive import Directive, DirectiveError
from cashcode_jupyter.testing.http import YIELD_EVERY, Exchange
from cashcode_jupyter.testing.plan import Plan, plan
from cashcode_jupyter.testing.quirks import Asked, Quirk, Response, resolve
from cashcode_jupyter.testing.quirks.refusals import refusal
from cashcode_jupyter.testing.records import Record, RequestLog
from cashcode_jupyter.testing.reply import Reply, reply_to
from cashcode_jupyter.testing.strict import Refused, check

_FAULT_QUIRKS = {
    "429": "429",
    "500": "500",
    "disconnect": "cut",
    "truncate": "cut_clean",
    "badargs": "bad_arguments",
    "badsse": "bad_json",
}
_CUTS = ("stall", "cut", "cut_clean")


class BadRequest(Exception):
    """A request that is answered by a 400 in these words."""


class Completions:
    """The answering side of the model. `quirks` are added to whatever each request asks for."""

    def __init__(
        self, log: RequestLog, answers: Answers, *, strict: bool, context_window: int, quirks: tuple[str, ...] = ()
    ) -> None:
        self._log = log
        self._answers = answers
        self._strict = strict
        self._context_window = context_window
        self._always = resolve(quirks)
        self._failures: Counter[str] = Counter()

    async def respond(self, exchange: Exchange) -> None:
        request = exchange.request
        record = self._log.add(exchange.connection, request.path, request.headers, request.body)
        answer = _Answer(exchange, record, self._log)
        try:
            await self._answer(answer)
        finally:
            record.last_ns = time.monotonic_ns()
            record.aborted = exchange.abandoned
            record.finished = True
            self._log.changed()

    async def _answer(self, answer: _Answer) -> None:
        record = answer.record
        try:
            body = _body(answer.exchange.request.body)
            self._log.about(record, body.get("model", ""))
            record.stream = body.get("stream") is True
            if self._strict or "strict" in record.model:
                check(body)
            planned = plan(body, self._answers)
            record.script, record.round = planned.directive.kind, planned.round
            quirks = [*self._always, *self._active(planned)]
        except (BadRequest, Refused, DirectiveError) as error:
            record.refused = str(error)
            param = error.param if isinstance(error, Refused) else None
            answer.whole(refusal(400, str(error), "invalid_request_error", param=param))
            return
        await self._act(answer, body, planned, quirks)

    def _active(self, planned: Plan) -> list[Quirk]:
        """The quirks that hold for this request, a fault among them under the name of its quirk."""
        asked = planned.directive
        quirks = resolve(asked.quirk)
        fault = resolve([_FAULT_QUIRKS[asked.fault]]) if asked.fault else []
        if not (quirks or fault) or (asked.on is not None and asked.on != planned.round):
            return []
        failing = self._failing(asked)
        return [*(quirks if failing or asked.times is None else []), *(fault if failing else [])]

    def _failing(self, asked: Directive) -> bool:
        times = asked.times if asked.times is not None else 1 if asked.fault else 0
        if times == 0:
            return True
        key = asked.key or "+".join((asked.fault, *asked.quirk))
        self._failures[key] += 1
        if self._failures[key] <= times:
            return True
        del self._failures[key]
        return False

    async def _act(self, answer: _Answer, body: dict[str, Any], planned: Plan, quirks: list[Quirk]) -> None:
        asked, record = planned.directive, answer.record
        names = {quirk.name for quirk in quirks}
        await answer.sleep(asked.first_ms or (1000 if "slow_first" in names else 0))
        if "silent" in names:
            await _forever()
        if "closed" in names:
            await answer.exchange.break_off()
            return
        seen = Asked(body, asked, self._context_window)
        for quirk in quirks:
            if quirk.refuse is not None and (response := quirk.refuse(seen)) is not None:
                answer.whole(response)
                return
        reply = reply_to(planned, body, record.request_id, record.req_bytes)
        for quirk in quirks:
            if quirk.reply is not None:
                quirk.reply(reply)
        if record.stream and "json_for_stream" not in names:
            await self._stream(answer, body, asked, reply, quirks, names)
        else:
            await self._whole(answer, body, asked, reply, quirks, names)

    async def _whole(
        self,
        answer: _Answer,
        body: dict[str, Any],
        asked: Directive,
        reply: Reply,
        quirks: list[Quirk],
        names: set[str],
    ) -> None:
        # An answer in one body takes as long as the same answer streamed.
        await answer.sleep(asked.delay_ms * max(len(reply.text) - 1, 0))
        if names & {"cut", "cut_clean"}:
            await answer.exchange.break_off()
            return
        if names & {"stall", "silent_stream", "keepalive_only"}:
            await _forever()
        value = whole_of(reply, base_of(answer.record.request_id, answer.record.model or "mock"))
        for quirk in quirks:
            if quirk.whole is not None:
                quirk.whole(value)
        answer.whole(Response(200, dumps(value)))

    async def _stream(
        self,
        answer: _Answer,
        body: dict[str, Any],
        asked: Directive,
        reply: Reply,
        quirks: list[Quirk],
        names: set[str],
    ) -> None:
        options = body.get("stream_options")
        usage = isinstance(options, dict) and options.get("include_usage") is True
        base = base_of(answer.record.request_id, answer.record.model or "mock")
        answer.begin("" if "no_content_type" in names else "text/event-stream")
        if "silent_stream" in names:
            await _forever()
        if "keepalive_only" in names:
            await answer.keep_alive(asked.delay_ms or 100)
        if not quirks and not reply.calls and not reply.reasoning:
            frames, unhurried = plain_frames(reply, base, usage=usage), 3 if usage else 2
        else:
            stream = stream_of(reply, base, split=asked.split, usage=usage)
            for quirk in quirks:
                if quirk.stream is not None:
                    quirk.stream(stream, asked, reply)
            frames = stream.frames()
            unhurried = len(frames) - len(stream.content)
            if names.intersection(_CUTS):
                frames, unhurried = frames[: min(asked.after, len(stream.content))], 0
            for quirk in quirks:
                if quirk.frames is not None:
                    frames, unhurried = quirk.frames(frames), 0
        # The finish, the usage and [DONE] follow the last piece without its delay.
        content, tail = frames[: len(frames) - unhurried], frames[len(frames) - unhurried :]
        await answer.write(content, asked.delay_ms, asked.burst)
        if "stall" in names:
            await _forever()
        if "cut" in names:
            await answer.exchange.break_off()
            return
        await answer.write(tail, 0, len(tail) or 1)
        answer.exchange.end()


class _Answer:
    """The writing of one answer, timed into its record."""

    def __init__(self, exchange: Exchange, record: Record, log: RequestLog) -> None:
        self.exchange = exchange
        self.record = record
        self._log = log

    async def sleep(self, milliseconds: float) -> None:
        if milliseconds > 0:
            start = time.monotonic_ns()
            try:
                await asyncio.sleep(milliseconds / 1000)
            finally:
                self.record.slept_ns += time.monotonic_ns() - start

    def whole(self, response: Response) -> None:
        self.record.first_ns = time.monotonic_ns()
        self.record.status = response.status
        self.record.events = 1
        self._log.changed()
        spent = (self.record.first_ns - self.record.recv_ns) / 1e6
        headers = (*self._ids(), ("x-mock-server-ms", f"{spent:.3f}"), *response.headers)
        self.exchange.send(response.status, response.body, response.content_type, headers)

    def begin(self, content_type: str) -> None:
        self.record.status = 200
        self._log.changed()
        self.exchange.begin(content_type, self._ids())

    def _ids(self) -> tuple[tuple[str, str], ...]:
        return (("x-mock-request-id", self.record.request_id),)

    async def write(self, frames: list[bytes], delay_ms: float, burst: int) -> None:
        """Nothing is awaited after the last write: a client that leaves when it has all of it did not abort."""
        record, exchange = self.record, self.exchange
        for start in range(0, len(frames), burst):
            if start:
                await exchange.drain()
                if delay_ms:
                    await self.sleep(delay_ms)
                elif start // burst % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
            block = frames[start : start + burst]
            exchange.write(block[0] if len(block) == 1 else b"".join(block))
            record.events += len(block)
            record.first_ns = record.first_ns or time.monotonic_ns()
            self._log.changed()

    async def keep_alive(self, delay_ms: float) -> None:
        while True:
            self.exchange.write(b": keep-alive\n\n")
            await self.exchange.drain()
            await self.sleep(delay_ms)


async def _forever() -> None:
    """Until the client leaves or the server closes: both cancel the task that waits here."""
    await asyncio.get_running_loop().create_future()


def _body(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadRequest("the body is no JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    if not isinstance(body.get("messages"), list):
        raise BadRequest("messages must be a list")
    if not isinstance(body.get("model", ""), str):
        raise BadRequest("model must be a text")
    return body
