"""Answers of status 200 that are not what was asked for."""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.testing.chunks import base_of, dumps
from cashcode_jupyter.testing.quirks.registry import Response, add

_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to continue.</body></html>"


def _json(value: Any) -> Response:
    return Response(200, dumps(value))


def _no_choices(choices: Any) -> Response:
    return _json({**base_of("none", "mock"), "object": "chat.completion", "choices": choices})


add(
    "json_error_200",
    "status 200 with a JSON error (OpenRouter)",
    refuse=lambda asked: _json({"error": {"message": "Provider returned error", "code": 502}}),
)
add("html_200", "status 200 with a web page (a gateway)", refuse=lambda asked: Response(200, _PAGE, "text/html"))
add("empty_200", "status 200 with an empty body", refuse=lambda asked: Response(200, b""))
add("bad_json_200", "status 200, application/json, and no JSON", refuse=lambda asked: Response(200, b'{"id": '))
add("null_choices_200", "status 200 with choices null", refuse=lambda asked: _no_choices(None))
add("no_choices_200", "status 200 with choices []", refuse=lambda asked: _no_choices([]))
add(
    "empty_stream",
    "an event stream without any event",
    refuse=lambda asked: Response(200, b"", "text/event-stream"),
)
add("json_for_stream", "a whole application/json answer to a request for a stream (no streaming)")
add("no_content_type", "the stream comes without a content type")
