"""Requests answered with an error status, in the words of the server that says it.

Some refuse always (`401`, `overflow_openai`), some only a request that breaks their rule (`no_stream_options`),
which is how a client's learning is tested.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable
from typing import Any

from cashcode_jupyter.testing.chunks import dumps
from cashcode_jupyter.testing.quirks.registry import Asked, Response, add


def refusal(status: int, message: str, kind: str, code: Any = None, param: str | None = None) -> Response:
    """An error in OpenAI's shape."""
    return Response(status, dumps({"error": {"message": message, "type": kind, "param": param, "code": code}}))


def _always(status: int, message: str, kind: str, code: Any = None) -> Callable[[Asked], Response]:
    return lambda asked: refusal(status, message, kind, code)


for _status, _message, _kind, _code in (
    (400, "The request is not valid.", "invalid_request_error", None),
    (401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    (402, "Insufficient Balance", "unknown_error", "invalid_request_error"),
    (403, "Your account may not use this model.", "permission_error", "permission_denied"),
    (408, "Request timed out.", "timeout", None),
    (413, "Request body too large.", "invalid_request_error", "request_too_large"),
    (500, "The server had an error while processing your request.", "server_error", None),
    (502, "Bad gateway", "server_error", None),
    (503, "The engine is currently overloaded, please try again later.", "server_error", None),
    (504, "Gateway timeout", "server_error", None),
    (529, "Overloaded", "overloaded_error", None),
):
    add(str(_status), f"status {_status}: {_message}", refuse=_always(_status, _message, _kind, _code))


def _not_found(asked: Asked) -> Response:
    message = f"The model `{asked.body.get('model')}` does not exist or you do not have access to it."
    return refusal(404, message, "invalid_request_error", "model_not_found")


def _ollama(status: int, text: str) -> Callable[[Asked], Response]:
    return lambda asked: Response(status, dumps({"error": text.format(model=asked.body.get("model"))}))


def _detail(asked: Asked) -> Response:
    problem = {"loc": ["body", "messages"], "msg": "field required", "type": "value_error.missing"}
    return Response(422, dumps({"detail": [problem]}))


add("404", "status 404 model_not_found (OpenAI)", refuse=_not_found)
add("404_ollama", "status 404, error is a text (Ollama)", refuse=_ollama(404, "model '{model}' not found"))
add("400_not_found", "status 400, model not found as a text", refuse=_ollama(400, "model '{model}' not found"))
add("422", "status 422 with a list of details (FastAPI servers)", refuse=_detail)
add(
    "html_502",
    "status 502 with a web page",
    refuse=lambda asked: Response(502, b"<html>Bad Gateway</html>", "text/html"),
)


def _limited(headers: Callable[[Asked], tuple[tuple[str, str], ...]]) -> Callable[[Asked], Response]:
    body = refusal(429, "Rate limit reached for requests.", "requests", "rate_limit_exceeded").body
    return lambda asked: Response(429, body, headers=headers(asked))


def _date(asked: Asked) -> tuple[tuple[str, str], ...]:
    try:
        wait = float(asked.directive.retry_after)
    except ValueError:
        wait = 1.0
    return (("retry-after", email.utils.formatdate(time.time() + wait, usegmt=True)),)


add(
    "429",
    "status 429, Retry-After in seconds",
    refuse=_limited(lambda a: (("retry-after", a.directive.retry_after),)),
)
add("429_date", "status 429, Retry-After as a date", refuse=_limited(_date))
add(
    "429_ms",
    "status 429, retry-after-ms",
    refuse=_limited(lambda a: (("retry-after-ms", a.directive.retry_after),)),
)
add("429_bare", "status 429 without a time", refuse=_limited(lambda asked: ()))
add(
    "429_quota",
    "status 429 because the money is spent: waiting does not help",
    refuse=_always(429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
)
add(
    "429_tokens",
    "status 429 whose text looks like an overflow and is a throttle",
    refuse=_always(429, "Too many tokens, please wait before trying again.", "rate_limit_error"),
)
add(
    "400_throttle",
    "status 400 whose text looks like an overflow and is a throttle",
    refuse=_always(400, "Too many tokens, please wait before trying again.", "ThrottlingException"),
)


def _overflow_openai(asked: Asked) -> Response:
    window = asked.context_window
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted in "
        f"{window + 100} tokens. Please reduce the length of the messages."
    )
    return refusal(400, message, "invalid_request_error", "context_length_exceeded", "messages")


def _overflow_vllm(asked: Asked) -> Response:
    window = asked.context_window
    message = (
        f"This model's maximum context length is {window} tokens. However, you requested {window + 100} tokens in "
        "the messages, Please reduce the length of the messages."
    )
    body = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}
    return Response(400, dumps(body))


def _overflow_llamacpp(asked: Asked) -> Response:
    error = {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": asked.context_window + 100,
        "n_ctx": asked.context_window,
    }
    return Response(400, dumps({"error": error}))


add("overflow_openai", "status 400 context_length_exceeded", refuse=_overflow_openai)
add("overflow_vllm", "status 400 in vLLM's words and shape", refuse=_overflow_vllm)
add("overflow_llamacpp", "status 400 exceed_context_size_error with n_ctx (llama.cpp)", refuse=_overflow_llamacpp)
add(
    "overflow_llamacpp_old",
    "status 500 `Context size has been exceeded.` (older llama.cpp)",
    refuse=lambda asked: Response(
        500, dumps({"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}})
    ),
)
add(
    "overflow_anthropic",
    "status 400 `prompt is too long`",
    refuse=_always(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"),
)


def _without(name: str) -> Callable[[Asked], Response | None]:
    def refuse(asked: Asked) -> Response | None:
        if name not in asked.body:
            return None
        message = f"Unrecognized request argument supplied: {name}"
        return refusal(400, message, "invalid_request_error", "unknown_parameter", name)

    return refuse


for _name in ("stream_options", "parallel_tool_calls", "tool_choice"):
    add(f"no_{_name}", f"status 400 for a request with {_name}, and for no other", refuse=_without(_name))


def _new_limit(asked: Asked) -> Response | None:
    if "max_tokens" not in asked.body:
        return None
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    return refusal(400, message, "invalid_request_error", "unsupported_parameter", "max_tokens")


add("no_max_tokens", "status 400 for max_tokens, which wants to be max_completion_tokens", refuse=_new_limit)


def _messages(asked: Asked) -> list[dict[str, Any]]:
    listed = asked.body.get("messages")
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _content_null(asked: Asked) -> Response | None:
    for number, message in enumerate(_messages(asked)):
        if message.get("content") is None:
            text = f"Invalid value for 'content': expected a string, got null. (messages[{number}])"
            return refusal(400, text, "invalid_request_error", None, f"messages.[{number}].content")
    return None


def _content_empty(asked: Asked) -> Response | None:
    for number, message in enumerate(_messages(asked)):
        if message.get("content") == "":
            text = f"messages.{number}: text content must be non-empty"
            return refusal(400, text, "invalid_request_error", None, f"messages.[{number}].content")
    return None


def _echo(asked: Asked) -> Response | None:
    for message in _messages(asked):
        if message.get("tool_calls") and "reasoning_content" not in message:
            text = "Missing `reasoning_content` field in the assistant message; it must be passed back to the API."
            return refusal(400, text, "invalid_request_error", "invalid_request_error")
    return None


def _no_echo(asked: Asked) -> Response | None:
    for number, message in enumerate(_messages(asked)):
        if "reasoning_content" in message:
            text = f"Extra inputs are not permitted: messages[{number}].reasoning_content"
            return refusal(400, text, "invalid_request_error", None, "reasoning_content")
    return None


def _mistral_ids(asked: Asked) -> Response | None:
    for message in _messages(asked):
        calls = message.get("tool_calls")
        ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        for call_id in (*ids, *([message["tool_call_id"]] if "tool_call_id" in message else [])):
            if not (isinstance(call_id, str) and len(call_id) == 9 and call_id.isascii() and call_id.isalnum()):
                text = f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
                return refusal(400, text, "invalid_request_error", "3280")
    return None


def _no_tools(asked: Asked) -> Response | None:
    if not asked.body.get("tools"):
        return None
    return _ollama(400, "registry.ollama.ai/library/{model} does not support tools")(asked)


add("no_content_null", "status 400 for a message whose content is null", refuse=_content_null)
add("no_content_empty", 'status 400 for a message whose content is ""', refuse=_content_empty)
add("echo_reasoning", "status 400 when tool calls come back without reasoning_content (DeepSeek)", refuse=_echo)
add("no_echo_reasoning", "status 400 when reasoning_content comes back", refuse=_no_echo)
add("mistral_ids", "status 400 for call ids that are not nine letters and digits (Mistral)", refuse=_mistral_ids)
add("no_tools", "status 400 for a request with tools (Ollama)", refuse=_no_tools)
