from __future__ import annotations

import json
from typing import Any

import pytest

from cashcode_jupyter.testing import ScriptedModel, directive, script
from tests.testing.client import GREP, NOOP, ask, post, send, user


def test_whole_and_streamed_text_agree(scripted_model: ScriptedModel) -> None:
    whole = ask(scripted_model, "[[mock:text,chunks=3]]", stream=False)
    streamed = ask(scripted_model, "[[mock:text,chunks=3]]")
    assert whole.message["content"] == streamed.text == "00000 00001 00002 "
    assert whole.json["choices"][0]["finish_reason"] == "stop"
    assert streamed.finish == ["stop"]
    assert streamed.body.endswith(b"data: [DONE]\n\n")
    assert float(whole.headers["x-mock-server-ms"]) >= 0


def test_an_exact_text_arrives_in_the_pieces_asked_for(scripted_model: ScriptedModel) -> None:
    text = 'Ünïcode, "quotes", ]] and\na line. 你好\u0000'
    got = ask(scripted_model, directive(text=text, chunks=4))
    assert got.text == text
    assert len(got.deltas) == 4


def test_without_a_directive_the_answer_repeats_the_question(scripted_model: ScriptedModel) -> None:
    assert ask(scripted_model, "Hello?").text == "You said: Hello?"


def test_usage_comes_only_when_asked(scripted_model: ScriptedModel) -> None:
    assert not any("usage" in event for event in ask(scripted_model, "[[mock:text,chunks=2]]").events)
    asked = ask(scripted_model, "[[mock:text,chunks=2]]", stream_options={"include_usage": True})
    assert asked.events[-1]["choices"] == []
    assert asked.events[-1]["usage"]["completion_tokens"] == 2


def test_usage_can_be_given(scripted_model: ScriptedModel) -> None:
    got = ask(scripted_model, "[[mock:text,prompt_tokens=900,completion_tokens=7]]", stream=False)
    assert got.json["usage"] == {"prompt_tokens": 900, "completion_tokens": 7, "total_tokens": 907}


def test_rounds_are_counted_from_the_history_and_may_differ(scripted_model: ScriptedModel) -> None:
    asked = directive("tools", rounds=2, args={"n": "{round}"}, text="Done.")
    history: list[Any] = []
    for number in range(2):
        message = ask(scripted_model, asked, after=history, tools=[NOOP], stream=False).message
        (call,) = message["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"n": number}
        history += [message, {"role": "tool", "tool_call_id": call["id"], "content": "ok"}]
    assert ask(scripted_model, asked, after=history, tools=[NOOP], stream=False).message["content"] == "Done."


def test_a_script_of_different_calls_is_played_round_by_round(scripted_model: ScriptedModel) -> None:
    asked = script([[("grep", {"pattern": "x"}), ("noop", {})], [("missing", "{oops")]], text="Done.")
    first = ask(scripted_model, asked, tools=[NOOP, GREP], stream=False).message
    assert [call["function"]["name"] for call in first["tool_calls"]] == ["grep", "noop"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in first["tool_calls"]]
    second = ask(scripted_model, asked, after=[first, *results], tools=[NOOP], stream=False).message
    assert second["tool_calls"][0]["function"] == {"name": "missing", "arguments": "{oops"}


def test_without_tools_no_call_is_made(scripted_model: ScriptedModel) -> None:
    assert ask(scripted_model, "[[mock:tools,rounds=9,say=Enough.]]").text == "Enough."


def test_a_tool_is_found_by_the_start_of_its_name(scripted_model: ScriptedModel) -> None:
    got = ask(scripted_model, "[[mock:tools,tool=gr]]", tools=[NOOP, GREP])
    assert got.calls[0]["function"]["name"] == "grep"


def test_parallel_calls_come_in_pieces(scripted_model: ScriptedModel) -> None:
    got = ask(scripted_model, "[[mock:parallel,calls=3,split=2,arg.ms=200]]", tools=[NOOP])
    joined = ["", "", ""]
    for part in got.calls:
        joined[part["index"]] += part["function"]["arguments"]
    assert [json.loads(text) for text in joined] == [{"ms": 200}] * 3
    assert len(got.calls) == 6
    assert got.finish == ["tool_calls"]


def test_text_and_reasoning_may_come_with_calls(scripted_model: ScriptedModel) -> None:
    got = ask(scripted_model, directive("tools", before="Let me see, ", reasoning="Hm, hm."), tools=[NOOP])
    assert got.text == "Let me see, "
    assert "".join(delta.get("reasoning_content", "") for delta in got.deltas) == "Hm, hm."
    assert len(got.calls) == 1


def test_the_answer_can_be_a_call_of_a_final_tool(scripted_model: ScriptedModel) -> None:
    got = ask(scripted_model, "[[mock:text,say=Bye,final_tool=grep]]", tools=[NOOP, GREP])
    assert json.loads(got.calls[0]["function"]["arguments"]) == {"answer": "Bye"}


def test_429_then_success(scripted_model: ScriptedModel) -> None:
    asked = "[[mock:text,fault=429,retry_after=2,times=2,key=a]]"
    first, second, third = (ask(scripted_model, asked) for _ in range(3))
    assert (first.status, second.status, third.status) == (429, 429, 200)
    assert first.headers["retry-after"] == "2"


def test_a_fault_holds_once_unless_it_says_more(scripted_model: ScriptedModel) -> None:
    assert [ask(scripted_model, "[[mock:text,fault=500]]").status for _ in range(2)] == [500, 200]
    assert [ask(scripted_model, "[[mock:text,fault=500,times=0]]").status for _ in range(3)] == [500] * 3


def test_a_quirk_holds_always_unless_it_says_less(scripted_model: ScriptedModel) -> None:
    assert [ask(scripted_model, "[[mock:text,quirk=503]]").status for _ in range(2)] == [503, 503]
    assert [ask(scripted_model, "[[mock:text,quirk=503,times=1]]").status for _ in range(2)] == [503, 200]


def test_a_fault_that_is_over_leaves_the_quirk(scripted_model: ScriptedModel) -> None:
    first, second = (ask(scripted_model, "[[mock:text,fault=500,quirk=no_done]]") for _ in range(2))
    assert (first.status, second.status, second.done) == (500, 200, False)


def test_a_fault_can_wait_for_its_round(scripted_model: ScriptedModel) -> None:
    asked = "[[mock:tools,rounds=1,quirk=500,on=1]]"
    first = ask(scripted_model, asked, tools=[NOOP], stream=False)
    result = {"role": "tool", "tool_call_id": first.message["tool_calls"][0]["id"], "content": "ok"}
    assert ask(scripted_model, asked, after=[first.message, result], tools=[NOOP]).status == 500


@pytest.mark.parametrize(("fault", "cut"), [("disconnect", True), ("truncate", False)])
def test_a_stream_ends_early(scripted_model: ScriptedModel, fault: str, cut: bool) -> None:
    got = ask(scripted_model, f"[[mock:text,chunks=50,fault={fault},after=5]]")
    assert (got.cut, len(got.deltas), got.finish, got.done) == (cut, 5, [], False)
    assert scripted_model.aborted == 0


def test_malformed_arguments_and_events(scripted_model: ScriptedModel) -> None:
    call = ask(scripted_model, "[[mock:tools,fault=badargs]]", tools=[NOOP]).calls[0]
    with pytest.raises(ValueError):
        json.loads(call["function"]["arguments"])
    assert b"{not json" in ask(scripted_model, "[[mock:text,fault=badsse,after=2]]").data


def test_a_wrong_directive_is_a_400_that_names_the_mistake(scripted_model: ScriptedModel) -> None:
    for asked, named in (("[[mock:poem]]", "'poem'"), ("[[mock:text,quirk=odd]]", "'odd'")):
        got = ask(scripted_model, asked)
        assert got.status == 400
        assert named in got.error


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"messages": 3}',
        b'{"messages": [], "model": []}',
        b'{"messages": [{"role": "user", "content": {}}], "model": 5}',
    ],
)
def test_a_bad_body_is_a_400_and_the_server_goes_on(scripted_model: ScriptedModel, body: bytes) -> None:
    assert send(scripted_model, "POST", "/v1/chat/completions", body).status == 400
    assert ask(scripted_model, "still there?").text == "You said: still there?"


def test_a_lone_surrogate_is_repeated_as_the_escape_it_was(scripted_model: ScriptedModel) -> None:
    got = post(scripted_model, {"model": "m", "messages": [user("\ud83d!")]})
    assert b"You said: \\ud83d!" in got.body


def test_the_delay_is_between_the_chunks(scripted_model: ScriptedModel) -> None:
    ask(scripted_model, "[[mock:text,chunks=3,delay_ms=10,first_ms=20]]")
    record = scripted_model.requests[0]
    assert record.first_ns - record.recv_ns >= 20e6
    assert record.last_ns - record.first_ns >= 20e6
    assert record.slept_ns >= 40e6


def test_quirks_of_the_model_are_added_to_every_request() -> None:
    with ScriptedModel(quirks=["crlf"]) as model:
        assert ask(model, "[[mock:text,quirk=no_done]]").body.endswith(b"\r\n\r\n")
        assert not ask(model, "[[mock:text,quirk=no_done]]").done
