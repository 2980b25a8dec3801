from __future__ import annotations

import copy
from typing import Any

import pytest

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.strict import Refused, check
from tests.testing.client import NOOP, ask, post, user


def call(call_id: str, arguments: Any = "{}", name: Any = "noop") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


SYSTEM = {"role": "system", "content": "Be brief."}
SAID = {"role": "assistant", "content": "Hello."}

GOOD: dict[str, Any] = {
    "model": "mock",
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [NOOP],
    "messages": [
        SYSTEM,
        user("Hi"),
        SAID,
        user(
            [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ]
        ),
        calls(call("a"), call("b", '{"x": [1, "é"]}')),
        result("a"),
        result("b"),
        calls(call("c"), content="Once more."),
        result("c"),
    ],
}


def test_a_legal_request_passes() -> None:
    check(copy.deepcopy(GOOD))


@pytest.mark.parametrize(
    ("messages", "where", "words"),
    [
        ([], "messages", "not empty"),
        (["x"], "messages[0]", "object"),
        ([user("x"), SYSTEM, user("y")], "messages[1]", "only the first"),
        ([SYSTEM, SYSTEM, user("y")], "messages[1]", "only the first"),
        ([{"role": "function", "content": "x"}], "messages[0].role", "'function'"),
        ([{"role": ["user"], "content": "x"}], "messages[0].role", "unknown role"),
        ([{"role": "user", "content": "x", "id": 4}], "messages[0].id", "unknown key"),
        ([user(None)], "messages[0].content", "required"),
        ([user(4)], "messages[0].content", "text or a list"),
        ([user([{"text": "x"}])], "messages[0].content[0]", "a type"),
        ([user("x"), user("y")], "messages[1]", "in a row"),
        ([user("x"), SAID], "messages", "user or tool"),
        ([user("x"), {"role": "assistant", "content": ""}, user("y")], "messages[1]", "content or tool calls"),
        ([user("x"), {"role": "assistant", "content": None}, user("y")], "messages[1]", "content or tool calls"),
        (
            [user("x"), {"role": "assistant", "content": "y", "tool_calls": []}],
            "messages[1].tool_calls",
            "not empty",
        ),
        ([user("x"), result("a")], "messages[1]", "directly preceding call 'a'"),
        ([user("x"), calls(call("a")), result("a"), result("a")], "messages[3]", "has its result already"),
        ([user("x"), calls(call("a")), result("z")], "messages[2]", "directly preceding call 'z'"),
        ([user("x"), calls(call("a")), user("y")], "messages[2]", "result for tool call 'a'"),
        ([user("x"), calls(call("a"), call("b")), result("a")], "messages", "'b' is missing"),
        ([user("x"), calls(call("a"), call("b")), result("b"), result("a")], "messages[2]", "in the order"),
        ([user("x"), calls(call("a"), call("a"))], "messages[1].tool_calls[1].id", "duplicate"),
        (
            [user("x"), calls(call("a")), result("a"), calls(call("a")), result("a")],
            "messages[3].tool_calls[0].id",
            "duplicate",
        ),
        ([user("x"), calls(call(""))], "messages[1].tool_calls[0].id", "not empty"),
        ([user("x"), calls(call("a", "{"))], "messages[1].tool_calls[0].function.arguments", "valid JSON"),
        ([user("x"), calls(call("a", "[]"))], "messages[1].tool_calls[0].function.arguments", "object"),
        ([user("x"), calls(call("a", ""))], "messages[1].tool_calls[0].function.arguments", "valid JSON"),
        ([user("x"), calls(call("a", '{"x": NaN}'))], "messages[1].tool_calls[0].function.arguments", "valid JSON"),
        (
            [user("x"), calls(call("a", '{"x": "\\ud800"}'))],
            "messages[1].tool_calls[0].function.arguments",
            "surrogate",
        ),
        ([user("x"), calls(call("a", {}))], "messages[1].tool_calls[0].function.arguments", "a text"),
        ([user("x"), calls(call("a", name=""))], "messages[1].tool_calls[0].function.name", "must match"),
        ([user("x"), calls({**call("a"), "index": 0})], "messages[1].tool_calls[0]", "'index'"),
        ([user("x\ud800")], "body", "surrogate"),
    ],
)
def test_what_a_strict_server_refuses_in_messages(messages: Any, where: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        check({**GOOD, "messages": messages})
    assert caught.value.param == where
    assert words in str(caught.value)


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": function}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"model": ""}, "model"),
        ({"stream": 1}, "stream"),
        ({"stream": False}, "stream_options"),
        ({"num_ctx": 4096}, "num_ctx"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"tools": []}, "tools"),
        ({"tools": [tool(description="x")]}, "tools[0].function.name"),
        ({"tools": [tool(name="a b")]}, "tools[0].function.name"),
        ({"tools": [NOOP, NOOP]}, "tools[1].function.name"),
        ({"tools": [{"name": "noop"}]}, "tools[0]"),
        ({"tools": [tool(name="x", parameters={})]}, "tools[0].function.parameters"),
    ],
)
def test_what_a_strict_server_refuses_around_them(body: dict[str, Any], where: str) -> None:
    with pytest.raises(Refused) as caught:
        check({**GOOD, **body})
    assert caught.value.param == where


def test_a_tool_choice_without_tools_is_refused() -> None:
    without = {key: value for key, value in GOOD.items() if key != "tools"}
    with pytest.raises(Refused, match="tool_choice"):
        check({**without, "tool_choice": "none"})


def test_a_strict_model_answers_400_and_keeps_why(strict_model: ScriptedModel) -> None:
    got = post(strict_model, {"model": "m", "messages": [user("x"), user("y")]})
    assert (got.status, got.json["error"]["param"]) == (400, "messages[1]")
    assert strict_model.refused == ["messages[1]: two user messages in a row"]


def test_a_model_named_strict_is_strict(scripted_model: ScriptedModel) -> None:
    assert post(scripted_model, {"model": "mock-strict", "messages": [user("x"), SAID]}).status == 400
    assert post(scripted_model, {"model": "mock", "messages": [user("x"), SAID]}).status == 200
    assert ask(scripted_model, "Hi", model="mock-strict").text == "You said: Hi"
