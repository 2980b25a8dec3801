from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from cashcode_jupyter.llm.errors import ContextOverflow, from_response, no_such_model
from cashcode_jupyter.llm.network_errors import from_exception
from cashcode_jupyter.llm.retry import wait_before, worth_retrying
from cashcode_jupyter.llm.retry_after import retry_after
from cashcode_jupyter.protocol.errors import (
    LlmAuth,
    LlmBadRequest,
    LlmBilling,
    LlmContentFilter,
    LlmContextOverflow,
    LlmError,
    LlmModelNotFound,
    LlmOverloaded,
    LlmPayloadTooLarge,
    LlmProtocol,
    LlmRateLimit,
    LlmServer,
    LlmTimeout,
    LlmTls,
    LlmUnreachable,
)

MARK = "Zq-secret-7"


def openai(message: str, **rest: Any) -> dict[str, Any]:
    return {"error": {"message": f"{message} {MARK}", **rest}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, openai("Incorrect API key provided", code="invalid_api_key"), LlmAuth),
        (403, openai("forbidden"), LlmAuth),
        (402, openai("Insufficient Balance"), LlmBilling),
        (429, openai("You exceeded your current quota", code="insufficient_quota"), LlmBilling),
        (429, openai("You exceeded your current quota. Please retry in 5.2s."), LlmRateLimit),
        (429, "", LlmRateLimit),
        (429, openai("Too many tokens, please wait before trying again."), LlmRateLimit),
        (400, openai("Too many tokens, please wait before trying again."), LlmRateLimit),
        (400, openai("ThrottlingException: Too many requests, context length exceeded"), LlmRateLimit),
        (400, openai("too long", code="context_length_exceeded"), LlmContextOverflow),
        (
            400,
            {"object": "error", "message": f"This model's maximum context length is 10 tokens {MARK}"},
            LlmContextOverflow,
        ),
        (400, openai("prompt is too long: 210000 tokens > 200000 maximum"), LlmContextOverflow),
        (400, openai("x", type="exceed_context_size_error", n_ctx=4096), LlmContextOverflow),
        (500, openai("Context size has been exceeded."), LlmContextOverflow),
        (400, openai("Input length 9 exceeds the maximum allowed input length of 8 tokens."), LlmContextOverflow),
        (413, openai("Request too large"), LlmPayloadTooLarge),
        (404, openai("The model `x` does not exist", code="model_not_found"), LlmModelNotFound),
        (404, {"error": f"model 'x' not found {MARK}"}, LlmModelNotFound),
        (400, {"error": f"model 'x' not found {MARK}"}, LlmModelNotFound),
        (404, "<html>Not Found</html>", LlmBadRequest),
        (400, openai("filtered", code="content_filter"), LlmContentFilter),
        (503, openai("whatever"), LlmOverloaded),
        (529, openai("Overloaded"), LlmOverloaded),
        (500, openai("The engine is overloaded"), LlmOverloaded),
        (500, openai("oops"), LlmServer),
        (502, f"<html>Bad Gateway {MARK}</html>", LlmServer),
        (408, openai("timed out"), LlmTimeout),
        (504, "", LlmTimeout),
        (400, openai("bad", param="messages"), LlmBadRequest),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": f"field required {MARK}"}]}, LlmBadRequest),
        (307, "", LlmBadRequest),
        (400, [openai("API key not valid")], LlmBadRequest),
        (418, None, LlmBadRequest),
    ],
)
def test_a_refusal_has_its_class_and_a_sentence_of_ours(status: int, body: Any, kind: type[LlmError]) -> None:
    error = from_response(status, body, {})
    assert type(error) is kind or (kind is LlmContextOverflow and isinstance(error, ContextOverflow))
    assert MARK.lower() not in error.detail.lower()
    assert error.detail.endswith(".")


@pytest.mark.parametrize(
    ("body", "window"),
    [
        (openai("This model's maximum context length is 8192 tokens. However, you requested 9000"), 8192),
        (openai("request (40069 tokens) exceeds the available context size (22016 tokens)"), 22016),
        (openai("prompt is too long: 210000 tokens > 200,000 maximum"), 200_000),
        (openai("x", type="exceed_context_size_error", n_ctx=4096), 4096),
        (openai("context length exceeded"), None),
    ],
)
def test_an_overflow_tells_how_much_the_model_takes(body: Any, window: int | None) -> None:
    error = from_response(400, body, {})
    assert isinstance(error, ContextOverflow)
    assert error.window == window


def test_a_bad_request_names_the_parameter_but_nothing_that_is_no_name() -> None:
    assert "top_k" in from_response(400, openai("bad", param="top_k"), {}).detail
    assert MARK not in from_response(400, openai("bad", param=f"x {MARK}"), {}).detail


def test_without_a_key_the_sentence_says_that_none_is_set() -> None:
    assert "none is set" in from_response(401, {}, {}, has_key=False).detail


def test_a_missing_model_is_explained_with_near_names() -> None:
    error = no_such_model("gpt-5-mni", ["gpt-5-mini", "gpt-5", "embedding-3"])
    assert isinstance(error, LlmModelNotFound)
    assert "gpt-5-mini" in error.detail and "embedding-3" not in error.detail


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_wait_may_be_a_date() -> None:
    seconds = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)})
    assert seconds is not None and 25 < seconds <= 30
    assert retry_after({"retry-after": format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)}) == 0.0


def test_the_wait_may_stand_in_the_message() -> None:
    assert retry_after({}, "please try again in 1.5s.") == 1.5
    assert retry_after({}, "Please try again in 250ms.") == 0.25


def test_the_wait_is_the_servers_but_at_most_two_minutes() -> None:
    assert wait_before(1, LlmRateLimit("", retry_after=7.0)) == 7.0
    assert wait_before(1, LlmRateLimit("", retry_after=3600.0)) == 120.0


def test_the_own_wait_doubles_with_jitter() -> None:
    waits = [wait_before(attempt, LlmServer("")) for attempt in (1, 2, 3, 9)]
    for wait, base in zip(waits, (0.5, 1.0, 2.0, 8.0), strict=True):
        assert base * 0.75 <= wait <= base * 1.25


@pytest.mark.parametrize("kind", [LlmAuth, LlmBilling, LlmBadRequest, LlmTls, LlmContextOverflow, LlmModelNotFound])
def test_what_stays_the_same_is_not_tried_again(kind: type[LlmError]) -> None:
    assert not worth_retrying(kind(""))


@pytest.mark.parametrize("kind", [LlmRateLimit, LlmOverloaded, LlmServer, LlmUnreachable, LlmProtocol, LlmTimeout])
def test_what_may_change_is_tried_again(kind: type[LlmError]) -> None:
    assert worth_retrying(kind(""))


def _wrapped(cause: BaseException) -> Exception:
    import httpx2

    error = httpx2.ConnectError("connection failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("code", "words"), [(18, "SSL_CERT_FILE"), (10, "expired"), (62, "another name"), (1, "SSL_CERT_FILE")]
)
def test_a_certificate_problem_says_what_to_do(code: int, words: str) -> None:
    cause = ssl.SSLCertVerificationError("certificate verify failed")
    cause.verify_code = code
    error = from_exception(_wrapped(cause), loopback=False, answered=False)
    assert isinstance(error, LlmTls)
    assert words in error.detail


def test_a_cut_answer_is_a_protocol_error_and_no_answer_is_unreachable() -> None:
    import httpx2

    cut = httpx2.RemoteProtocolError("peer closed connection")
    assert isinstance(from_exception(cut, loopback=False, answered=True), LlmProtocol)
    assert isinstance(from_exception(cut, loopback=False, answered=False), LlmUnreachable)


def test_a_refused_loopback_address_is_not_tried_again_another_host_is() -> None:
    assert not worth_retrying(from_exception(_wrapped(ConnectionRefusedError()), loopback=True, answered=False))
    assert worth_retrying(from_exception(_wrapped(ConnectionRefusedError()), loopback=False, answered=False))


def test_a_connection_that_times_out_is_a_timeout() -> None:
    import httpx2

    assert isinstance(from_exception(httpx2.ConnectTimeout(""), loopback=False, answered=False), LlmTimeout)
