"""Each quirk as it is on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.quirks import QUIRKS
from tests.testing.client import NOOP, Got, ask, open_stream, read_until


def text(model: ScriptedModel, quirk: str, more: str = "say=Hello world", **body: Any) -> Got:
    return ask(model, f"[[mock:text,{more},quirk={quirk}]]", **body)


def calls(model: ScriptedModel, quirk: str, more: str = "calls=2,arg.q=hi", **body: Any) -> Got:
    return ask(model, f"[[mock:tools,{more},quirk={quirk}]]", tools=[NOOP], **body)


def test_every_quirk_says_what_it_is() -> None:
    assert all(quirk.says for quirk in QUIRKS.values())


def test_indexes(scripted_model: ScriptedModel) -> None:
    assert all("index" not in part for part in calls(scripted_model, "no_index").calls)
    zeros = calls(scripted_model, "index_zero").calls
    assert [part["index"] for part in zeros] == [0, 0]
    assert len({part["id"] for part in zeros}) == 2


def test_ids(scripted_model: ScriptedModel) -> None:
    assert [part["id"] for part in calls(scripted_model, "ids_empty").calls] == ["", ""]
    assert [part["id"] for part in calls(scripted_model, "ids_null").calls] == [None, None]
    assert len({part["id"] for part in calls(scripted_model, "ids_repeated").calls}) == 1
    assert all("id" not in part for part in calls(scripted_model, "ids_missing").calls)
    whole = calls(scripted_model, "ids_missing", stream=False).message
    assert all("id" not in call for call in whole["tool_calls"])


def test_id_and_name_in_every_delta(scripted_model: ScriptedModel) -> None:
    parts = calls(scripted_model, "name_every_delta", "calls=2,split=3,arg.q=hello").calls
    assert len(parts) == 6
    assert all(part["id"] and part["function"]["name"] == "noop" for part in parts)
    assert [part["id"][-1] for part in parts] == ["0", "0", "0", "1", "1", "1"]


@pytest.mark.parametrize(
    ("quirk", "arguments"),
    [("arguments_object", {"q": "hi"}), ("arguments_null", None), ("arguments_empty", "")],
)
def test_arguments_of_another_type(scripted_model: ScriptedModel, quirk: str, arguments: Any) -> None:
    streamed = calls(scripted_model, quirk, "arg.q=hi").calls[0]
    whole = calls(scripted_model, quirk, "arg.q=hi", stream=False).message["tool_calls"][0]
    assert streamed["function"]["arguments"] == whole["function"]["arguments"] == arguments


def test_a_raw_line_feed_in_the_arguments(scripted_model: ScriptedModel) -> None:
    arguments = calls(scripted_model, "literal_lf", "arg.q=hi").calls[0]["function"]["arguments"]
    with pytest.raises(ValueError, match="control character"):
        json.loads(arguments)
    assert json.loads(arguments, strict=False) == {"q": "\nhi"}


def test_cut_arguments_claim_to_be_whole(scripted_model: ScriptedModel) -> None:
    got = calls(scripted_model, "cut_arguments", "arg.q=hello")
    assert got.calls[0]["function"]["arguments"] == '{"q": "'
    assert got.finish == ["tool_calls"]
    assert calls(scripted_model, "cut_arguments+finish_length").finish == ["length"]


def test_calls_that_finish_otherwise(scripted_model: ScriptedModel) -> None:
    assert calls(scripted_model, "calls_finish_stop").finish == ["stop"]
    assert calls(scripted_model, "calls_finish_null").finish == []


def test_calls_written_as_text(scripted_model: ScriptedModel) -> None:
    got = calls(scripted_model, "tool_call_text", "arg.q=hi")
    assert got.calls == []
    assert got.text == '<tool_call>\n{"name": "noop", "arguments": {"q": "hi"}}\n</tool_call>'
    assert got.finish == ["stop"]
    thought = calls(scripted_model, "tool_call_in_think").text
    assert thought.index("<think>") < thought.index("<tool_call>") < thought.index("</think>")


def test_a_call_of_an_unknown_tool(scripted_model: ScriptedModel) -> None:
    assert calls(scripted_model, "unknown_tool").calls[0]["function"]["name"] == "noop_please"


def test_thoughts_in_the_text(scripted_model: ScriptedModel) -> None:
    got = text(scripted_model, "think")
    assert got.text == "<think>Let me think about it.</think>Hello world"
    assert [delta["content"] for delta in got.deltas[:2]] == ["<thi", "nk>"]
    assert text(scripted_model, "think_close_only").text == "Let me think about it.</think>Hello world"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_fields(scripted_model: ScriptedModel, name: str) -> None:
    got = text(scripted_model, name, "say=Hello,reasoning=Deep%20thought")
    assert "".join(delta.get(name, "") for delta in got.deltas) == "Deep thought"
    assert got.text == "Hello"
    assert text(scripted_model, name, stream=False).message[name] == "Let me think about it."


def test_reasoning_details(scripted_model: ScriptedModel) -> None:
    got = text(scripted_model, "reasoning_details")
    details = [part["text"] for delta in got.deltas for part in delta.get("reasoning_details", ())]
    assert "".join(details) == "Let me think about it."


@pytest.mark.parametrize(
    ("quirk", "reason"),
    [
        ("finish_length", "length"),
        ("finish_content_filter", "content_filter"),
        ("finish_empty", ""),
        ("finish_eos", "eos"),
        ("finish_insufficient", "insufficient_system_resource"),
    ],
)
def test_finish_reasons(scripted_model: ScriptedModel, quirk: str, reason: str) -> None:
    assert text(scripted_model, quirk).finish == [reason]
    assert text(scripted_model, quirk, stream=False).json["choices"][0]["finish_reason"] == reason


def test_a_refusal(scripted_model: ScriptedModel) -> None:
    got = text(scripted_model, "refusal")
    assert got.text == ""
    assert got.deltas[0]["refusal"]


def test_content_of_other_types(scripted_model: ScriptedModel) -> None:
    parts = text(scripted_model, "content_parts", "say=Hello")
    assert parts.deltas[0]["content"] == [{"type": "text", "text": "Hello"}]
    assert text(scripted_model, "content_parts", "say=Hi", stream=False).message["content"][0]["text"] == "Hi"
    nulls = text(scripted_model, "content_null")
    assert nulls.text == "Hello world"
    assert sum(delta["content"] is None for delta in nulls.deltas) == 3
    assert text(scripted_model, "content_null", stream=False).message["content"] is None


def test_line_separators_and_surrogates(scripted_model: ScriptedModel) -> None:
    assert "\u2028second\u2029third\u0085".encode() in text(scripted_model, "u2028").body.replace(b'"}', b"")
    assert text(scripted_model, "split_emoji").deltas[0]["content"] == "\ud83d"
    assert b'"\\ud83d"' in text(scripted_model, "lone_surrogate").body


@pytest.mark.parametrize(
    ("quirk", "seen"),
    [
        ("ping", b"event: ping\ndata: {}\n\n"),
        ("keepalive", b": keep-alive\n\n"),
        ("openrouter", b": OPENROUTER PROCESSING\n\n"),
        ("choices_null", b'"choices":null'),
        ("choices_empty", b'"choices":[]'),
        ("delta_null", b'"delta":null'),
    ],
)
def test_events_between_the_events(scripted_model: ScriptedModel, quirk: str, seen: bytes) -> None:
    got = text(scripted_model, quirk)
    assert got.body.count(seen) == 3
    assert got.text == "Hello world"
    assert got.done


def test_the_first_event_of_azure(scripted_model: ScriptedModel) -> None:
    first = text(scripted_model, "azure_first").events[0]
    assert (first["choices"], first["object"]) == ([], "")
    assert first["prompt_filter_results"]


def test_a_finish_without_delta(scripted_model: ScriptedModel) -> None:
    choice = text(scripted_model, "finish_without_delta").events[-1]["choices"][0]
    assert choice == {"index": 0, "finish_reason": "stop"}


def test_usage_in_other_places(scripted_model: ScriptedModel) -> None:
    asked = {"include_usage": True}
    assert text(scripted_model, "usage_chunk").events[-1]["usage"]
    assert all(event["usage"] for event in text(scripted_model, "usage_every").events)
    assert not any("usage" in event for event in text(scripted_model, "no_usage", stream_options=asked).events)
    finish = text(scripted_model, "usage_at_finish", stream_options=asked).events[-1]
    assert finish["usage"] and finish["choices"][0]["finish_reason"] == "stop"
    assert "usage" not in text(scripted_model, "no_usage", stream=False).json
    big = "x" * 40_000
    cut = ask(scripted_model, f"[[mock:text,quirk=prompt_cut]]{big}", stream=False)
    assert cut.json["usage"]["prompt_tokens"] == 4096


def test_ends_that_are_missing(scripted_model: ScriptedModel) -> None:
    no_done = text(scripted_model, "no_done")
    assert (no_done.finish, no_done.done, no_done.cut) == (["stop"], False, False)
    no_finish = text(scripted_model, "no_finish")
    assert (no_finish.finish, no_finish.done, no_finish.cut) == ([], False, False)
    assert text(scripted_model, "done_without_finish").finish == []


@pytest.mark.parametrize(
    ("quirk", "event"),
    [
        ("error_object", {"error": {"message": "boom", "type": "server_error", "code": 500}}),
        ("error_string", {"error": "boom"}),
        ("error_event", {"error": {"message": "boom", "code": 500}}),
    ],
)
def test_errors_in_the_middle_of_a_stream(scripted_model: ScriptedModel, quirk: str, event: Any) -> None:
    got = text(scripted_model, quirk, "chunks=9,after=3")
    assert len(got.deltas) == 3
    assert got.events[-1] == event
    assert got.finish == []


def test_the_error_of_vllm_looks_like_a_chunk(scripted_model: ScriptedModel) -> None:
    event = text(scripted_model, "vllm_error").events[-1]
    assert (event["object"], event["code"]) == ("error", 400)


def test_other_bytes_for_the_same_events(scripted_model: ScriptedModel) -> None:
    plain = text(scripted_model, "usage_chunk")
    crlf = text(scripted_model, "usage_chunk+crlf").body
    assert b"\r\n\r\n" in crlf and crlf.count(b"\n") == crlf.count(b"\r\n") == plain.body.count(b"\n")
    assert b"data: " not in text(scripted_model, "no_space").body
    assert text(scripted_model, "unterminated").body.endswith(b"data: [DONE]")
    joined = text(scripted_model, "joined_data").body
    assert joined.count(b"\n\n") == plain.body.count(b"\n\n") // 2
    assert text(scripted_model, "bom").body.startswith(b"\xef\xbb\xbfdata: ")
    assert b'\ndata: "choices"' in text(scripted_model, "multiline_data").body


def test_every_byte_is_a_chunk_of_its_own(scripted_model: ScriptedModel) -> None:
    with open_stream(scripted_model, "[[mock:text,say=é,quirk=bytewise]]") as wire:
        _, _, body = read_until(wire, b"0\r\n\r\n").partition(b"\r\n\r\n")
    chunks = body.removesuffix(b"0\r\n\r\n").split(b"1\r\n")
    assert b"\xc3\r\n" in chunks and b"\xa9\r\n" in chunks


@pytest.mark.parametrize(
    ("quirk", "kind", "start"),
    [
        ("json_error_200", "application/json", b'{"error":{"message":"Provider returned error"'),
        ("html_200", "text/html", b"<!DOCTYPE html>"),
        ("empty_200", "application/json", b""),
        ("null_choices_200", "application/json", b'{"id":'),
        ("json_for_stream", "application/json", b'{"id":'),
        ("empty_stream", "text/event-stream", b""),
    ],
)
def test_answers_of_200_that_are_no_stream(
    scripted_model: ScriptedModel, quirk: str, kind: str, start: bytes
) -> None:
    got = text(scripted_model, quirk)
    assert (got.status, got.headers["content-type"]) == (200, kind)
    assert got.body.startswith(start)


def test_a_whole_answer_to_a_request_for_a_stream(scripted_model: ScriptedModel) -> None:
    assert text(scripted_model, "json_for_stream").message["content"] == "Hello world"


def test_a_connection_closed_without_an_answer(scripted_model: ScriptedModel) -> None:
    with pytest.raises(ConnectionError):
        text(scripted_model, "closed")


@pytest.mark.parametrize("quirk", ["silent", "silent_stream", "stall"])
def test_a_silent_server_answers_nobody_and_still_stops(quirk: str) -> None:
    with ScriptedModel() as model:
        wire = open_stream(model, f"[[mock:text,chunks=9,after=2,quirk={quirk}]]")
        with wire:
            if quirk == "stall":
                read_until(wire, b"00001 ")
            assert model.wait_for(lambda m: len(m.requests) == 1)
            assert not model.requests[0].finished
            wire.shutdown(1)
            assert model.wait_for(lambda m: m.aborted == 1)
            assert model.requests[0].events == (2 if quirk == "stall" else 0)


def test_keep_alives_alone_go_on(scripted_model: ScriptedModel) -> None:
    with open_stream(scripted_model, "[[mock:text,delay_ms=1,quirk=keepalive_only]]") as wire:
        assert read_until(wire, b": keep-alive\n\n\r\ne\r\n: keep-alive")
