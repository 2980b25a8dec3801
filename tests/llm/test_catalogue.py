"""Every row of the wire-quirk catalogue, through the real client and a real socket."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

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
    LlmUnreachable,
)
from cashcode_jupyter.testing import directive, script
from cashcode_jupyter.testing.quirks.registry import QUIRKS
from tests.llm.conftest import TOOLS, Asker

ANSWER = "Grüße, 世界! 😀 done"

SAME_ANSWER = [
    "ping",
    "keepalive",
    "openrouter",
    "choices_null",
    "choices_empty",
    "choices_missing",
    "delta_null",
    "content_null",
    "azure_first",
    "finish_without_delta",
    "finish_with_last",
    "usage_chunk",
    "usage_every",
    "usage_at_finish",
    "no_usage",
    "no_done",
    "done_without_finish",
    "finish_null",
    "finish_empty",
    "finish_eos",
    "crlf",
    "cr",
    "no_space",
    "bytewise",
    "one_write",
    "joined_data",
    "multiline_data",
    "unterminated",
    "unterminated+no_done",
    "bom",
    "content_parts",
    "json_for_stream",
    "no_content_type",
    "json_for_stream+content_parts",
]


@pytest.mark.parametrize("quirk", SAME_ANSWER)
async def test_the_answer_is_whole_whatever_its_frames_look_like(asker: Asker, quirk: str) -> None:
    completion = await asker.ask(directive("text", text=ANSWER, size=3, quirk=quirk))
    assert completion.text == ANSWER == "".join(asker.heard.text)
    assert not completion.cut


@pytest.mark.parametrize(
    "quirk",
    [
        "no_index",
        "index_zero",
        "ids_empty",
        "ids_null",
        "ids_repeated",
        "ids_missing",
        "arguments_object",
        "calls_finish_stop",
        "calls_finish_null",
        "json_for_stream",
        "bytewise",
    ],
)
async def test_parallel_calls_are_two_calls_whatever_marks_them(asker: Asker, quirk: str) -> None:
    wanted = [("glob", {"pattern": "*.py"}), ("read_file", {"path": "a.txt"})]
    completion = await asker.ask(script([wanted], quirk=quirk), tools=TOOLS)
    assert [(draft.name, json.loads(draft.arguments)) for draft in completion.tool_calls] == wanted
    assert all(draft.complete for draft in completion.tool_calls)
    assert len({draft.id for draft in completion.tool_calls}) == 2


@pytest.mark.parametrize("quirk", ["name_every_delta", "bytewise", "calls_finish_stop"])
async def test_a_call_in_many_pieces_is_one_call(asker: Asker, quirk: str) -> None:
    prompt = script([[("read_file", {"path": "日本/a.txt", "limit": 10})]], split=7, quirk=quirk)
    completion = await asker.ask(prompt, tools=TOOLS)
    assert [(draft.name, json.loads(draft.arguments)) for draft in completion.tool_calls] == [
        ("read_file", {"path": "日本/a.txt", "limit": 10})
    ]


@pytest.mark.parametrize("quirk", ["arguments_null", "arguments_empty"])
async def test_a_call_without_arguments_has_an_empty_object(asker: Asker, quirk: str) -> None:
    completion = await asker.ask(script([[("glob", {})]], quirk=quirk), tools=TOOLS)
    assert [(draft.arguments, draft.complete) for draft in completion.tool_calls] == [("{}", True)]


async def test_a_raw_line_feed_in_the_arguments_is_kept_and_whole(asker: Asker) -> None:
    prompt = script([[("glob", {"pattern": "a\nb"})]], quirk="literal_lf")
    draft = (await asker.ask(prompt, tools=TOOLS)).tool_calls[0]
    assert json.loads(draft.arguments, strict=False) == {"pattern": "a\nb"}
    assert draft.complete


@pytest.mark.parametrize(
    "quirk", ["cut_arguments", "cut_arguments+finish_length", "cut_arguments+calls_finish_stop"]
)
async def test_cut_arguments_are_marked_so_that_they_are_never_run(asker: Asker, quirk: str) -> None:
    completion = await asker.ask(script([[("read_file", {"path": "notes.txt"})]], quirk=quirk), tools=TOOLS)
    assert [draft.complete for draft in completion.tool_calls] == [False]


@pytest.mark.parametrize("quirk", ["reasoning_content", "reasoning", "reasoning_details"])
async def test_reasoning_in_a_field_is_kept_apart(asker: Asker, quirk: str) -> None:
    completion = await asker.ask(directive("text", text="so", reasoning="because", quirk=quirk))
    assert (completion.reasoning, completion.text) == ("because", "so")
    assert "".join(asker.heard.reasoning) == "because"


async def test_reasoning_in_think_tags_is_kept_apart(asker: Asker) -> None:
    completion = await asker.ask(directive("text", text="so", quirk="think"))
    assert completion.text == "so"
    assert completion.reasoning == "Let me think about it."


async def test_thinking_that_never_closes_is_reasoning(asker: Asker) -> None:
    completion = await asker.ask(directive("text", text="so", quirk="think_unclosed"))
    assert completion.text == ""
    assert completion.reasoning.endswith("so")


async def test_a_model_that_only_closes_its_thinking_is_understood_from_the_second_answer_on(asker: Asker) -> None:
    prompt = directive("text", text="so", quirk="think_close_only")
    first = await asker.ask(prompt)
    assert "</think>" not in first.text
    second = await asker.ask(prompt)
    assert (second.reasoning, second.text) == ("Let me think about it.", "so")
    plain = await asker.ask(directive("text", text="no thoughts"))
    assert (plain.reasoning, plain.text) == ("", "no thoughts")
    again = await asker.ask(directive("text", text="no thoughts"))
    assert asker.heard.reasoning == []
    assert again.text == "no thoughts"


async def test_calls_written_as_text_are_calls_and_not_shown(asker: Asker) -> None:
    prompt = script([[("glob", {"pattern": "*"}), ("read_file", {"path": "a"})]], quirk="tool_call_text")
    completion = await asker.ask(prompt, tools=TOOLS)
    assert [(draft.name, json.loads(draft.arguments)) for draft in completion.tool_calls] == [
        ("glob", {"pattern": "*"}),
        ("read_file", {"path": "a"}),
    ]
    assert completion.text == ""


async def test_a_call_inside_thinking_is_not_run(asker: Asker) -> None:
    prompt = script([[("glob", {"pattern": "*"})]], quirk="tool_call_in_think")
    completion = await asker.ask(prompt, tools=TOOLS)
    assert completion.tool_calls == []
    assert "<tool_call>" in completion.reasoning


async def test_calls_without_a_name_are_an_error(asker: Asker) -> None:
    with pytest.raises(LlmProtocol):
        await asker.ask(script([[("glob", {})]], quirk="no_name"), tools=TOOLS)


async def test_a_refusal_is_the_answer(asker: Asker) -> None:
    assert (await asker.ask(directive("text", quirk="refusal"))).text == "I can't help with that."


async def test_an_empty_answer_is_an_answer(asker: Asker) -> None:
    completion = await asker.ask(directive("text", quirk="empty_answer"))
    assert (completion.text, completion.tool_calls) == ("", [])


async def test_unicode_line_separators_stay_in_the_text(asker: Asker) -> None:
    completion = await asker.ask(directive("text", text="end", quirk="u2028"))
    assert completion.text == "first\u2028second\u2029third\u0085end"


async def test_an_answer_at_the_token_limit_is_marked_as_cut(asker: Asker) -> None:
    completion = await asker.ask(directive("text", text="half", quirk="finish_length"))
    assert (completion.text, completion.cut, completion.finish_reason) == ("half", True, "length")


@pytest.mark.parametrize("quirk", ["usage_chunk", "usage_every", "usage_at_finish", "json_for_stream"])
async def test_the_servers_usage_is_believed(asker: Asker, quirk: str) -> None:
    completion = await asker.ask(directive("text", text="xyz", prompt_tokens=41, completion_tokens=1, quirk=quirk))
    assert (completion.prompt_tokens, completion.completion_tokens) == (41, 1)


async def test_without_usage_nothing_is_made_up(asker: Asker) -> None:
    completion = await asker.ask(directive("text", quirk="no_usage"))
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


async def test_a_silently_cut_prompt_shows_in_the_usage(asker: Asker) -> None:
    completion = await asker.ask(directive("text", quirk="prompt_cut") + "x" * 40_000)
    assert completion.prompt_tokens == 4096


async def test_a_character_cut_in_two_is_joined_and_half_a_one_is_replaced(asker: Asker) -> None:
    for quirk in ("split_emoji", "lone_surrogate"):
        completion = await asker.ask(directive("text", text="x", quirk=quirk))
        completion.text.encode()
        assert "".join(asker.heard.text) == completion.text
        assert ("\ufffd" in completion.text) is (quirk == "lone_surrogate")


async def test_an_unknown_tool_is_for_the_caller_to_refuse(asker: Asker) -> None:
    completion = await asker.ask(script([[("glob", {})]], quirk="unknown_tool"), tools=TOOLS)
    assert [draft.name for draft in completion.tool_calls] == ["glob_please"]


async def test_arguments_that_are_no_json_are_given_on_as_they_are(asker: Asker) -> None:
    completion = await asker.ask(script([[("glob", {"pattern": "*"})]], quirk="bad_arguments"), tools=TOOLS)
    with pytest.raises(ValueError):
        json.loads(completion.tool_calls[0].arguments)


@pytest.mark.parametrize(
    ("quirk", "kind"),
    [
        ("error_object", LlmServer),
        ("error_string", LlmServer),
        ("error_event", LlmServer),
        ("vllm_error", LlmContextOverflow),
        ("bad_json", LlmProtocol),
        ("no_finish", LlmProtocol),
        ("cut", LlmProtocol),
        ("cut_clean", LlmProtocol),
        ("finish_content_filter", LlmContentFilter),
        ("finish_insufficient", LlmOverloaded),
    ],
)
async def test_a_stream_that_breaks_keeps_what_was_shown(asker: Asker, quirk: str, kind: type[LlmError]) -> None:
    with pytest.raises(kind) as caught:
        await asker.ask(directive("text", chunks=8, after=5, quirk=quirk))
    assert "".join(asker.heard.text).startswith("00000 00001 ")
    assert "boom" not in caught.value.detail


@pytest.mark.parametrize(
    ("quirk", "kind"),
    [
        ("400", LlmBadRequest),
        ("401", LlmAuth),
        ("402", LlmBilling),
        ("403", LlmAuth),
        ("404", LlmModelNotFound),
        ("404_ollama", LlmModelNotFound),
        ("400_not_found", LlmModelNotFound),
        ("408", LlmTimeout),
        ("413", LlmPayloadTooLarge),
        ("422", LlmBadRequest),
        ("429", LlmRateLimit),
        ("429_date", LlmRateLimit),
        ("429_ms", LlmRateLimit),
        ("429_bare", LlmRateLimit),
        ("429_quota", LlmBilling),
        ("429_tokens", LlmRateLimit),
        ("400_throttle", LlmRateLimit),
        ("500", LlmServer),
        ("502", LlmServer),
        ("503", LlmOverloaded),
        ("504", LlmTimeout),
        ("529", LlmOverloaded),
        ("html_502", LlmServer),
        ("overflow_openai", LlmContextOverflow),
        ("overflow_vllm", LlmContextOverflow),
        ("overflow_llamacpp", LlmContextOverflow),
        ("overflow_llamacpp_old", LlmContextOverflow),
        ("overflow_anthropic", LlmContextOverflow),
        ("json_error_200", LlmServer),
        ("html_200", LlmProtocol),
        ("empty_200", LlmProtocol),
        ("bad_json_200", LlmProtocol),
        ("null_choices_200", LlmProtocol),
        ("no_choices_200", LlmProtocol),
        ("empty_stream", LlmProtocol),
        ("closed", LlmUnreachable),
    ],
)
async def test_a_refused_request_raises_its_class(asker: Asker, quirk: str, kind: type[LlmError]) -> None:
    with pytest.raises(kind) as caught:
        await asker.ask(directive("text", quirk=quirk))
    assert caught.value.detail
    assert asker.heard.text == []


def test_every_quirk_of_the_scripted_model_is_met_by_a_test_here() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in QUIRKS if not re.search(rf"\b{name}\b", tests)] == []
