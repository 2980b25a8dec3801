from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from cashcode_jupyter.agent import wire
from cashcode_jupyter.agent.render import Rendering
from cashcode_jupyter.agent.wire import EARLIER, GO_ON, MISSING_RESULT, encode, outgoing
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.testing.strict import check

OPENAI = Profile("openai_compatible")
MISTRAL = Profile("openai_compatible", content_null=False, id_rule="mistral9", echo_reasoning=True)

texts = st.one_of(st.text(max_size=8), st.sampled_from(["", " ", "\ud83d", "x\udc00y", "漢字", "a\nb"]))
ids = st.sampled_from(["c1", "c2", "call_0", "", "ü"])
calls = st.fixed_dictionaries(
    {
        "id": st.one_of(ids, st.none()),
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["read_file", "grep", ""]),
                "arguments": st.one_of(
                    st.sampled_from(["{}", '{"a": 1}', "", "[1]", '{"a":', "null", '{"a": "\\ud800"}']), st.none()
                ),
            }
        ),
    }
)
messages = st.lists(
    st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": texts}),
        st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": st.one_of(texts, st.none())},
            optional={"tool_calls": st.lists(calls, max_size=3), "reasoning_content": texts},
        ),
        st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": ids, "content": texts}),
        st.fixed_dictionaries(
            {
                "role": st.just("user"),
                "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2),
            }
        ),
    ),
    max_size=12,
)


def body(sent: list[dict]) -> dict:
    return {"model": "m", "messages": json.loads(encode(sent)), "stream": True}


@settings(max_examples=400)
@given(messages, st.sampled_from([OPENAI, MISTRAL]))
def test_whatever_the_history_a_strict_server_accepts_the_request(history, profile):
    check(body(outgoing(history, profile)))


@given(messages, st.sampled_from([OPENAI, MISTRAL]))
def test_it_is_idempotent_and_its_bytes_are_the_same_each_time(history, profile):
    once = outgoing(history, profile)
    assert outgoing(once, profile) == once
    assert encode(outgoing(history, profile)) == encode(once)


@given(messages)
def test_the_history_itself_is_never_changed(history):
    before = json.dumps(history)
    outgoing(history, OPENAI)
    assert json.dumps(history) == before


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def assistant(text: str, *calls: str) -> dict:
    message: dict = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}} for call in calls
        ]
    return message


def tool(call: str, text: str) -> dict:
    return {"role": "tool", "tool_call_id": call, "content": text}


LEGAL = [
    {"role": "system", "content": "You are"},
    user("one"),
    assistant("", "c1", "c2"),
    tool("c1", "r1"),
    tool("c2", "r2"),
    assistant("two"),
    user("three"),
]


def test_a_legal_history_keeps_its_words_and_each_request_is_a_prefix_of_the_next():
    first = encode(outgoing(LEGAL[:2], OPENAI))[:-1]
    second = encode(outgoing(LEGAL[:5], OPENAI))[:-1]
    third = encode(outgoing(LEGAL, OPENAI))
    assert second.startswith(first) and third.startswith(second)
    assert [message.get("content") for message in json.loads(third)] == [
        "You are", "one", None, "r1", "r2", "two", "three",
    ]  # fmt: skip


def test_results_stand_behind_their_call_in_call_order():
    history = [user("q"), assistant("", "c1", "c2"), user("steered"), tool("c2", "second"), tool("c1", "first")]
    sent = outgoing(history, OPENAI)
    assert [message.get("content") for message in sent[2:4]] == ["first", "second"]
    assert sent[-1] == user("steered")


def test_a_result_belongs_to_the_call_before_it_even_when_ids_repeat():
    history = [user("q"), assistant("", "c"), user("p"), assistant("", "c"), tool("c", "of the second")]
    sent = outgoing(history, OPENAI)
    assert [m["content"] for m in sent if m["role"] == "tool"] == [MISSING_RESULT, "of the second"]


def test_orphans_and_empty_assistants_go_and_ends_are_legal():
    sent = outgoing([tool("x", "orphan"), assistant("hello"), assistant("")], OPENAI)
    assert sent == [user(EARLIER), assistant("hello"), user(GO_ON)]


def test_an_assistants_words_join_the_call_that_follows():
    sent = outgoing([user("q"), assistant("a"), assistant("b", "c1"), tool("c1", "r")], OPENAI)
    assert sent[1]["content"] == "a\n\nb" and sent[1]["tool_calls"][0]["id"] == "c1"


def test_mistral_gets_ids_of_nine_letters_and_digits_on_both_sides():
    sent = outgoing([user("q"), assistant("", "call_abc"), tool("call_abc", "r")], MISTRAL)
    call_id = sent[1]["tool_calls"][0]["id"]
    assert len(call_id) == 9 and call_id.isalnum() and sent[2]["tool_call_id"] == call_id
    assert sent[1]["content"] == ""


def test_reasoning_is_sent_back_only_where_the_server_wants_it():
    history = [user("q"), assistant("a") | {"reasoning_content": "hm"}, user("p")]
    assert "reasoning_content" not in outgoing(history, OPENAI)[1]
    assert outgoing(history, MISTRAL)[1]["reasoning_content"] == "hm"


def test_the_users_words_pass_byte_for_byte():
    text = "{braces} $x  trailing  \n\n\t" + "é漢😀" * 1000
    assert json.loads(encode(outgoing([user(text)], OPENAI)))[0]["content"] == text


@settings(max_examples=400)
@given(messages, st.sets(st.integers(0, 12)), st.sampled_from([OPENAI, MISTRAL]))
def test_rendering_a_growing_history_gives_the_same_bytes_as_rendering_it_whole(history, stops, profile):
    rendering, grown = Rendering(), []
    history = [message for message in history if message["role"] not in ("system", "developer")]
    for position, message in enumerate(history):
        grown.append(message)
        if position in stops or position == len(history) - 1:
            whole = encode(outgoing([{"role": "system", "content": "S"}, *grown], profile))
            assert rendering.render("S", grown, 0, profile) == whole


def test_a_long_history_is_rendered_only_at_its_end(monkeypatch):
    history = [user("one"), assistant("two")] * 500
    rendering = Rendering()
    rendering.render("S", history, 0, OPENAI)
    rendered: list[int] = []
    original = wire.dress
    monkeypatch.setattr(wire, "dress", lambda message, profile: rendered.append(1) or original(message, profile))
    history += [user("three"), assistant("four"), user("five")]
    rendering.render("S", history, 0, OPENAI)
    assert len(rendered) < 10
