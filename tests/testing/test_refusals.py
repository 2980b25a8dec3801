from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest

from cashcode_jupyter.testing import ScriptedModel
from tests.testing.client import NOOP, Got, post, user

CALL = {"id": "call-1", "type": "function", "function": {"name": "noop", "arguments": "{}"}}


def refused(model: ScriptedModel, quirk: str, more: str = "", **body: Any) -> Got:
    return post(model, {"model": "m", "messages": [user(f"[[mock:text{more},quirk={quirk}]]")], **body})


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529])
def test_a_status_is_named_by_its_number(scripted_model: ScriptedModel, status: int) -> None:
    assert refused(scripted_model, str(status)).status == status


def test_three_ways_to_say_when_to_come_back(scripted_model: ScriptedModel) -> None:
    assert refused(scripted_model, "429", ",retry_after=7").headers["retry-after"] == "7"
    assert refused(scripted_model, "429_ms", ",retry_after=250").headers["retry-after-ms"] == "250"
    date = refused(scripted_model, "429_date", ",retry_after=60").headers["retry-after"]
    assert 50 < email.utils.parsedate_to_datetime(date).timestamp() - time.time() < 70


@pytest.mark.parametrize(
    ("quirk", "status", "words"),
    [
        ("overflow_openai", 400, b"context_length_exceeded"),
        ("overflow_vllm", 400, b"maximum context length is 2048 tokens. However, you requested"),
        ("overflow_llamacpp", 400, b'"exceed_context_size_error","n_prompt_tokens":2148,"n_ctx":2048'),
        ("overflow_llamacpp_old", 500, b"Context size has been exceeded."),
        ("429_tokens", 429, b"Too many tokens, please wait"),
        ("404_ollama", 404, b'{"error":"model \'m\' not found"}'),
        ("422", 422, b'{"detail":['),
    ],
)
def test_refusals_in_the_words_of_their_servers(quirk: str, status: int, words: bytes) -> None:
    with ScriptedModel(context_window=2048) as model:
        got = refused(model, quirk)
    assert got.status == status
    assert words in got.body


@pytest.mark.parametrize(
    ("quirk", "body"),
    [
        ("no_stream_options", {"stream": True, "stream_options": {"include_usage": True}}),
        ("no_parallel_tool_calls", {"tools": [NOOP], "parallel_tool_calls": True}),
        ("no_max_tokens", {"max_tokens": 10}),
        ("no_tools", {"tools": [NOOP]}),
    ],
)
def test_a_parameter_is_refused_where_it_stands_and_only_there(
    scripted_model: ScriptedModel, quirk: str, body: dict[str, Any]
) -> None:
    assert refused(scripted_model, quirk).status == 200
    got = refused(scripted_model, quirk, **body)
    assert got.status == 400
    assert quirk == "no_tools" or quirk.removeprefix("no_") in got.error


@pytest.mark.parametrize(
    ("quirk", "message"),
    [
        ("no_content_null", {"role": "assistant", "content": None, "tool_calls": [CALL]}),
        ("no_content_empty", {"role": "assistant", "content": "", "tool_calls": [CALL]}),
        ("echo_reasoning", {"role": "assistant", "content": "x", "tool_calls": [CALL]}),
        ("no_echo_reasoning", {"role": "assistant", "content": "x", "reasoning_content": "hm"}),
        ("mistral_ids", {"role": "tool", "tool_call_id": "call-1", "content": "x"}),
    ],
)
def test_a_message_is_refused_for_its_shape(scripted_model: ScriptedModel, quirk: str, message: Any) -> None:
    asked = user(f"[[mock:text,quirk={quirk}]]")
    assert post(scripted_model, {"model": "m", "messages": [asked]}).status == 200
    assert post(scripted_model, {"model": "m", "messages": [asked, message]}).status == 400
