"""Events that do not belong among the others, and events that should be there and are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cashcode_jupyter.testing.chunks import Event, Stream, sse
from cashcode_jupyter.testing.directive import Directive
from cashcode_jupyter.testing.quirks.registry import add
from cashcode_jupyter.testing.reply import Reply

Bend = Callable[[Stream, Directive, Reply], None]


def _between(event: Callable[[Stream], Event]) -> Bend:
    """Before every event of the content, and once before the finish."""

    def bend(stream: Stream, asked: Directive, reply: Reply) -> None:
        mixed: list[Event] = []
        for item in stream.content:
            mixed += [event(stream), item]
        stream.content = [*mixed, event(stream)]

    return bend


def _breaks_off(event: Callable[[Stream], Event]) -> Bend:
    """After `after` events comes this one, then nothing but [DONE]."""

    def bend(stream: Stream, asked: Directive, reply: Reply) -> None:
        stream.content = [*stream.content[: asked.after], event(stream)]
        stream.finish = stream.usage = None

    return bend


add(
    "ping",
    "`event: ping` with `data: {}` between the events",
    stream=_between(lambda stream: b"event: ping\ndata: {}\n\n"),
)
add("keepalive", "`: keep-alive` comments (DeepSeek)", stream=_between(lambda stream: b": keep-alive\n\n"))
add(
    "openrouter",
    "`: OPENROUTER PROCESSING` comments",
    stream=_between(lambda stream: b": OPENROUTER PROCESSING\n\n"),
)
add("choices_null", '`"choices": null` between the events', stream=_between(lambda s: {**s.base, "choices": None}))
add("choices_empty", '`"choices": []` between the events', stream=_between(lambda s: {**s.base, "choices": []}))
add(
    "choices_missing",
    "events without choices between the others",
    stream=_between(lambda stream: dict(stream.base)),
)
add("delta_null", '`"delta": null` between the events', stream=_between(lambda s: _delta(s, None)))


def _delta(stream: Stream, delta: Any) -> dict[str, Any]:
    return {**stream.base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def _azure(stream: Stream, asked: Directive, reply: Reply) -> None:
    filtered = [{"prompt_index": 0, "content_filter_results": {}}]
    first = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": filtered}
    stream.content = [first, *stream.content]


add("azure_first", "a first event with empty choices and prompt_filter_results (Azure)", stream=_azure)


def _finish_bare(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.finish = {**stream.base, "choices": [{"index": 0, "finish_reason": reply.finish}]}


add("finish_without_delta", "the finish event has no delta (DeepSeek)", stream=_finish_bare)


def _finish_with_last(stream: Stream, asked: Directive, reply: Reply) -> None:
    if stream.content and isinstance(stream.content[-1], dict) and stream.content[-1].get("choices"):
        stream.content[-1]["choices"][0]["finish_reason"] = reply.finish
        stream.finish = None


add("finish_with_last", "the finish reason stands in the last event with content", stream=_finish_with_last)


def _usage(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.usage = {**stream.base, "choices": [], "usage": reply.usage}


def _usage_everywhere(stream: Stream, asked: Directive, reply: Reply) -> None:
    for number, event in enumerate((*stream.content, stream.finish), 1):
        if isinstance(event, dict):
            tokens = min(number, reply.completion_tokens)
            total = reply.prompt_tokens + tokens
            event["usage"] = {**reply.usage, "completion_tokens": tokens, "total_tokens": total}


def _usage_at_finish(stream: Stream, asked: Directive, reply: Reply) -> None:
    if isinstance(stream.finish, dict):
        stream.finish["usage"] = reply.usage
    stream.usage = None


def _no_usage(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.usage = None


add("usage_chunk", "a usage event also when it was not asked for", stream=_usage)
add("usage_every", "usage so far on every event", stream=_usage_everywhere)
add("usage_at_finish", "usage on the finish event, no event of its own", stream=_usage_at_finish)
add("no_usage", "no usage although it was asked for", stream=_no_usage, whole=lambda body: body.pop("usage", None))


def _no_done(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.done = b""


def _no_finish(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.finish = stream.usage = None
    stream.done = b""


def _done_without_finish(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.finish = None


add("no_done", "the stream ends without [DONE]", stream=_no_done)
add("no_finish", "a clean end without finish_reason, usage and [DONE] (proxy)", stream=_no_finish)
add("done_without_finish", "[DONE] comes, a finish_reason does not", stream=_done_without_finish)

add(
    "error_object",
    '`data: {"error": {...}}` after `after` events',
    stream=_breaks_off(lambda stream: {"error": {"message": "boom", "type": "server_error", "code": 500}}),
)
add(
    "error_string",
    '`data: {"error": "boom"}` after `after` events',
    stream=_breaks_off(lambda stream: {"error": "boom"}),
)
add(
    "error_event",
    "`event: error` with an error object after `after` events",
    stream=_breaks_off(lambda stream: b"event: error\n" + sse({"error": {"message": "boom", "code": 500}})),
)
add(
    "vllm_error",
    "vLLM's error object, which looks like a chunk without choices, after `after` events",
    stream=_breaks_off(
        lambda stream: {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        }
    ),
)


def _bad_json(stream: Stream, asked: Directive, reply: Reply) -> None:
    stream.content.insert(asked.after, b"data: {not json\n\n")


add("bad_json", "one event that is no JSON after `after` events; the others are whole", stream=_bad_json)
