from __future__ import annotations

import pytest

from cashcode_jupyter.kernel.failures import of_event, readable, stopped
from cashcode_jupyter.protocol.errors import ERROR_CODES, CashCodeError, LlmAuth, LlmError, LlmServer


@pytest.mark.parametrize("code", ERROR_CODES)
def test_every_code_comes_back_as_an_error_with_that_code(code: str):
    error = of_event({"code": code, "detail": "why", "retry_after": 2.0})
    assert isinstance(error, CashCodeError)
    assert (error.code, error.detail, error.retry_after) == (code, "why", 2.0)


def test_the_class_is_the_one_that_owns_the_code():
    assert type(of_event({"code": "llm_auth", "detail": "x"})) is LlmAuth
    assert type(of_event({"code": "llm_server", "detail": "x"})) in (LlmServer, LlmError)


def test_a_code_without_a_class_does_not_stick_to_the_base():
    of_event({"code": "mcp_unavailable", "detail": "x"})
    assert CashCodeError.code == "internal"


def test_the_traceback_is_one_line_with_sentence_and_code():
    error = readable(LlmAuth("The key was refused."))
    assert error._render_traceback_() == ["CashCode: The key was refused. [llm_auth]"]  # type: ignore[attr-defined]
    assert len(stopped()._render_traceback_()) == 1  # type: ignore[attr-defined]
