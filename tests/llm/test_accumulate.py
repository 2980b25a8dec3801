from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.llm.accumulate import Accumulator
from cashcode_jupyter.llm.call_slots import is_terminated
from cashcode_jupyter.llm.completion import Completion
from cashcode_jupyter.protocol.errors import (
    LlmContentFilter,
    LlmContextOverflow,
    LlmError,
    LlmOverloaded,
    LlmProtocol,
    LlmServer,
)


def chunk(delta: Any = None, finish: str | None = None, **rest: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}], **rest}


def call(
    index: int | None = None, id: Any = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: dict[str, Any] = {"function": function}
    if index is not None:
        entry["index"] = index
    if id is not None:
        entry["id"] = id
    return entry


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(entries)})


def add_up(*payloads: Any, done: bool = True, finish: str | None = "tool_calls", **options: Any) -> Completion:
    answer = Accumulator(lambda _text: None, lambda _text: None, **options)
    for payload in (*payloads, chunk(finish=finish)):
        answer.feed(payload)
    return answer.finish(done=done)


def plain(completion: Completion) -> list[tuple[str, str]]:
    return [(draft.name, draft.arguments) for draft in completion.tool_calls]


def test_text_and_usage_are_added_up() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    completion = add_up(
        chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), usage, finish="stop"
    )
    assert completion == Completion("Hello", finish_reason="stop", prompt_tokens=7, completion_tokens=2)


def test_usage_on_every_chunk_counts_once() -> None:
    usages = [{"prompt_tokens": 7, "completion_tokens": number} for number in (1, 2)]
    completion = add_up(*(chunk({"content": "a"}, usage=usage) for usage in usages), finish="stop")
    assert (completion.prompt_tokens, completion.completion_tokens) == (7, 2)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"index": 0, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}], "object": ""},
        {"choices": [{"delta": {"content": None, "tool_calls": None, "reasoning": None}}]},
        {"choices": [{"delta": {"tool_calls": [None, "x", {}]}}]},
        "text",
        7,
        None,
        [],
    ],
)
def test_what_holds_no_answer_changes_nothing(payload: Any) -> None:
    assert add_up(chunk({"content": "a"}), payload, chunk({"content": "b"}), finish="stop").text == "ab"


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"refusal": "I will not."}, "I will not."),
    ],
)
def test_text_may_come_in_other_forms(delta: dict[str, Any], text: str) -> None:
    assert add_up(chunk(delta), finish="stop").text == text


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "why"},
        {"reasoning": "why"},
        {"reasoning": "why", "reasoning_details": [{"type": "reasoning.text", "text": "why"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "why"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "why"}]}]},
    ],
)
def test_reasoning_is_kept_apart_from_the_text(delta: dict[str, Any]) -> None:
    completion = add_up(chunk(delta), chunk({"content": "so"}), finish="stop")
    assert (completion.reasoning, completion.text) == ("why", "so")


def test_a_surrogate_pair_cut_in_two_becomes_its_character() -> None:
    completion = add_up(chunk({"content": "a\ud83d"}), chunk({"content": "\ude00b\ud800"}), finish="stop")
    assert completion.text == "a😀b\ufffd"


CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "split over deltas": (
        [
            calls(call(0, "c1", "f", "")),
            calls(call(0, arguments='{"a"')),
            calls(call(0, arguments=": 1}")),
        ],
        [("f", '{"a": 1}')],
    ),
    "two with their own index, mixed": (
        [
            calls(call(0, "c1", "f", ""), call(1, "c2", "g", "")),
            calls(call(1, arguments='{"b":2}')),
            calls(call(0, arguments='{"a":1}')),
        ],
        [("f", '{"a":1}'), ("g", '{"b":2}')],
    ),
    "index always 0, own ids, whole (Ollama)": (
        [calls(call(0, "c1", "f", '{"a":1}')), calls(call(0, "c2", "g", '{"b":2}'))],
        [("f", '{"a":1}'), ("g", '{"b":2}')],
    ),
    "index always 0, no ids, whole": (
        [calls(call(0, name="f", arguments='{"a":1}')), calls(call(0, name="f", arguments='{"a":2}'))],
        [("f", '{"a":1}'), ("f", '{"a":2}')],
    ),
    "the same id for all, whole": (
        [calls(call(0, "same", "f", '{"a":1}')), calls(call(1, "same", "g", '{"b":2}'))],
        [("f", '{"a":1}'), ("g", '{"b":2}')],
    ),
    "no index (older Ollama)": (
        [calls(call(None, "c1", "f", '{"a":1}')), calls(call(None, "c2", "g", "{}"))],
        [("f", '{"a":1}'), ("g", "{}")],
    ),
    "neither index nor id, whole (Gemini)": (
        [calls(call(name="f", arguments='{"a":1}'), call(name="g", arguments="{}"))],
        [("f", '{"a":1}'), ("g", "{}")],
    ),
    "rest without index, id and name": (
        [calls(call(None, "c1", "f", '{"a"')), calls(call(arguments=":1}"))],
        [("f", '{"a":1}')],
    ),
    "id and name in every delta": (
        [calls(call(0, "c1", "f", '{"a"')), calls(call(0, "c1", "f", ":1}")), calls(call(0, "c1", "f", ""))],
        [("f", '{"a":1}')],
    ),
    "name in pieces": (
        [calls(call(0, "c1", "read_")), calls(call(0, name="file")), calls(call(0, arguments="{}"))],
        [("read_file", "{}")],
    ),
    "arguments an object (litellm)": ([calls(call(0, "c1", "f", {"a": 1}))], [("f", '{"a": 1}')]),
    "arguments null or missing": ([calls(call(0, "c1", "f"))], [("f", "{}")]),
    "a call without a name is dropped": (
        [calls(call(0, "c1", "f", "{}"), call(1, "c2", None, "{}"))],
        [("f", "{}")],
    ),
    "the old function_call": (
        [
            chunk({"function_call": {"name": "f", "arguments": '{"a"'}}),
            chunk({"function_call": {"arguments": ":1}"}}),
        ],
        [("f", '{"a":1}')],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_tool_calls_are_put_together(name: str) -> None:
    deltas, expected = CASES[name]
    completion = add_up(*deltas)
    assert plain(completion) == expected
    assert all(draft.complete for draft in completion.tool_calls)


@pytest.mark.parametrize("ids", [("", ""), (None, None), ("same", "same"), (7, 7)])
def test_ids_that_are_blank_or_repeated_are_replaced(ids: tuple[Any, Any]) -> None:
    completion = add_up(calls(call(0, ids[0], "f", "{}"), call(1, ids[1], "g", "{}")))
    given_ids = [draft.id for draft in completion.tool_calls]
    assert len(set(given_ids)) == 2
    assert all(given_ids)


def test_an_id_of_the_server_is_kept() -> None:
    assert add_up(calls(call(0, "call_abc", "f", "{}"))).tool_calls[0].id == "call_abc"


@pytest.mark.parametrize("finish", ["stop", None, "tool_calls", "", "eos"])
def test_calls_count_whatever_the_finish_reason(finish: str | None) -> None:
    assert plain(add_up(calls(call(0, "c1", "f", "{}")), finish=finish)) == [("f", "{}")]


@pytest.mark.parametrize("arguments", ['{"path": "no', '{"a": 1', '{"a": [1, 2', '{"a": "b\\"', "{", '{"a"'])
def test_cut_arguments_are_never_complete(arguments: str) -> None:
    completion = add_up(calls(call(0, "c1", "f", arguments)))
    assert [draft.complete for draft in completion.tool_calls] == [False]


@pytest.mark.parametrize("arguments", ["{'a': 1}", '{"a": 1,}', '{"a": "x\ny"}', "[1]", "nonsense"])
def test_malformed_arguments_that_are_not_cut_are_left_to_the_reader(arguments: str) -> None:
    assert is_terminated(arguments)


def test_at_the_token_limit_the_last_call_is_incomplete_unless_it_is_whole() -> None:
    half = add_up(calls(call(0, "c1", "f", "{}"), call(1, "c2", "g", "")), finish="length")
    whole = add_up(calls(call(0, "c1", "f", '{"a":1}')), finish="length")
    assert [draft.complete for draft in half.tool_calls] == [True, False]
    assert [draft.complete for draft in whole.tool_calls] == [True]
    assert half.cut and whole.cut


def test_a_call_written_as_text_counts_only_for_offered_tools() -> None:
    text = chunk({"content": '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'})
    assert plain(add_up(text, finish="stop", tool_names={"f"})) == [("f", '{"a": 1}')]
    assert plain(add_up(text, finish="stop", tool_names={"g"})) == []
    assert plain(add_up(text, finish="stop")) == []


def test_a_call_written_as_text_inside_thinking_is_only_thought() -> None:
    text = '<think><tool_call>{"name": "f", "arguments": {}}</tool_call></think>No.'
    completion = add_up(chunk({"content": text}), finish="stop", tool_names={"f"})
    assert (completion.tool_calls, completion.text) == ([], "No.")
    assert "<tool_call>" in completion.reasoning


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"error": {"message": "boom", "code": 500}}, LlmServer),
        ({"error": "boom"}, LlmServer),
        ({"error": {"message": "Provider returned error", "code": 502}}, LlmServer),
        (
            {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
            LlmContextOverflow,
        ),
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, LlmOverloaded),
        ({"detail": "Internal Server Error"}, LlmServer),
    ],
)
def test_an_error_among_the_chunks_is_raised(payload: dict[str, Any], kind: type[LlmError]) -> None:
    with pytest.raises(kind) as caught:
        add_up(chunk({"content": "a"}), payload)
    assert "boom" not in caught.value.detail


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("content_filter", LlmContentFilter),
        ("insufficient_system_resource", LlmOverloaded),
        ("error", LlmServer),
    ],
)
def test_an_end_that_is_a_failure_is_raised(reason: str, kind: type[LlmError]) -> None:
    with pytest.raises(kind):
        add_up(chunk({"content": "a"}), finish=reason)


def test_a_clean_end_without_any_end_mark_is_an_error() -> None:
    with pytest.raises(LlmProtocol):
        add_up(chunk({"content": "a"}), finish=None, done=False)


def test_done_alone_ends_an_answer() -> None:
    assert add_up(chunk({"content": "a"}), finish=None, done=True).text == "a"


def test_only_nameless_calls_are_an_error() -> None:
    with pytest.raises(LlmProtocol):
        add_up(calls(call(0, "c1", None, "{}")))


def test_a_whole_body_counts_as_an_answer_and_one_without_choices_does_not() -> None:
    answer = Accumulator(lambda _text: None, lambda _text: None)
    answer.feed({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]})
    assert answer.finish(done=False, whole_body=True).text == "Hi"
    empty = Accumulator(lambda _text: None, lambda _text: None)
    empty.feed({"choices": []})
    with pytest.raises(LlmProtocol):
        empty.finish(done=False, whole_body=True)


ARGUMENTS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=4), st.one_of(st.integers(), st.text(max_size=6)), max_size=3
)


@given(st.lists(ARGUMENTS, min_size=1, max_size=3), st.sampled_from(["index", "id", "both", "repeat"]), st.data())
def test_any_split_of_the_arguments_gives_the_same_calls(
    wanted: list[dict[str, Any]], style: str, data: st.DataObject
) -> None:
    deltas = []
    for number, arguments in enumerate(wanted):
        text = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        for place, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(text)], strict=True)):
            first = place == 0 or style == "repeat"
            deltas.append(
                calls(
                    call(
                        None if style == "id" else number,
                        f"c{number}" if style == "id" or (first and style != "index") else None,
                        f"f{number}" if first else None,
                        text[a:b],
                    )
                )
            )
    completion = add_up(*deltas)
    assert [(draft.name, json.loads(draft.arguments)) for draft in completion.tool_calls] == [
        (f"f{number}", arguments) for number, arguments in enumerate(wanted)
    ]
    assert all(draft.complete for draft in completion.tool_calls)


@given(st.text(max_size=20), st.data())
def test_any_split_of_the_text_gives_the_same_text(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    shown: list[str] = []
    answer = Accumulator(shown.append, lambda _text: None, tool_names={"f"})
    for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True):
        answer.feed(chunk({"content": text[a:b]}))
    answer.feed(chunk(finish="stop"))
    completion = answer.finish(done=True)
    assert completion.text == "".join(shown) == text
