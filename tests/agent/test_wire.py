from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from cashcode_jupyter.agent import pictures, wire
from cashcode_jupyter.agent.render import Rendering
from cashcode_jupyter.agent.wire import EARLIER, GO_ON, MISSING_RESULT, encode, outgoing
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.testing.strict import check

OPENAI = Profile("openai_compatible")
MISTRAL = Profile("openai_compatible", content_null=False, id_rule="mistral9", echo_reasoning=True)
BLIND = Profile("openai_compatible", vision=False)

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
FILES = [f"{number:064x}.png" for number in range(4)]
GALLERY = {file: f"data:image/png;base64,{'QUJD' * (number + 1)}".encode() for number, file in enumerate(FILES)}
shots = st.fixed_dictionaries(
    {"file": st.sampled_from(FILES), "label": st.sampled_from(["plot.png", "", 'a"]\n\u2028b', "\ud83d"])}
)
galleries = st.sets(st.sampled_from(FILES)).map(lambda files: {file: GALLERY[file] for file in files})
messages = st.lists(
    st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": texts}),
        st.fixed_dictionaries(
            {"role": st.just("user"), "content": texts, "pictures": st.lists(shots, min_size=1, max_size=6)}
        ),
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


def body(sent: list[dict], gallery: pictures.Gallery) -> dict:
    return {"model": "m", "messages": json.loads(pictures.filled(encode(sent), gallery)), "stream": True}


def shown(sent: dict) -> list[str]:
    """The URL of each picture in a request's body."""
    parts = (part for message in sent["messages"] for part in message["content"] or "" if isinstance(part, dict))
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


@settings(max_examples=400)
@given(messages, galleries, st.sampled_from([OPENAI, MISTRAL, BLIND]))
def test_whatever_the_history_a_strict_server_accepts_the_request(history, gallery, profile):
    check(body(outgoing(history, profile, gallery), gallery))


@given(messages, galleries, st.sampled_from([OPENAI, MISTRAL, BLIND]))
def test_it_is_idempotent_and_its_bytes_are_the_same_each_time(history, gallery, profile):
    once = outgoing(history, profile, gallery)
    assert outgoing(once, profile, gallery) == once
    assert encode(outgoing(history, profile, gallery)) == encode(once)


@given(messages)
def test_the_newest_pictures_go_out_and_each_other_one_is_named(history):
    files = [picture["file"] for message in history for picture in message.get("pictures", ())]
    sent = body(outgoing(history, OPENAI, GALLERY), GALLERY)
    assert shown(sent) == [GALLERY[file].decode() for file in files[-pictures.MOST :]]
    assert str(sent).count("[picture: ") == max(0, len(files) - pictures.MOST)


@given(messages)
def test_a_model_that_cannot_see_is_told_the_names_of_all_pictures(history):
    files = [picture["file"] for message in history for picture in message.get("pictures", ())]
    sent = body(outgoing(history, BLIND, GALLERY), GALLERY)
    assert shown(sent) == [] and str(sent).count("[picture: ") == len(files)


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
@given(messages, st.sets(st.integers(0, 12)), galleries, st.sampled_from([OPENAI, MISTRAL, BLIND]))
def test_rendering_a_growing_history_gives_the_same_bytes_as_rendering_it_whole(history, stops, gallery, profile):
    rendering, grown = Rendering(), []
    history = [message for message in history if message["role"] not in ("system", "developer")]
    for position, message in enumerate(history):
        grown.append(message)
        if position in stops or position == len(history) - 1:
            whole = encode(outgoing([{"role": "system", "content": "S"}, *grown], profile, gallery))
            assert rendering.render("S", grown, 0, profile, gallery=gallery) == pictures.filled(whole, gallery)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=12))
def test_a_chat_of_whole_turns_with_pictures_renders_the_same_in_steps_and_whole(turns):
    rendering, grown = Rendering(), []
    for number, (count, tools) in enumerate(turns):
        seen = [{"file": FILES[(number + k) % 4], "label": f"{number}.{k}"} for k in range(count)]
        grown.append(user(f"q{number}") | ({"pictures": seen} if seen else {}))
        whole = encode(outgoing([{"role": "system", "content": "S"}, *grown], OPENAI, GALLERY))
        assert rendering.render("S", grown, 0, OPENAI, gallery=GALLERY) == pictures.filled(whole, GALLERY)
        grown += [assistant("", f"c{number}"), tool(f"c{number}", "r")] if tools else []
        grown.append(assistant("a"))


def test_a_request_with_pictures_is_a_prefix_of_the_next_one():
    history = [user("look") | {"pictures": [{"file": FILES[0], "label": "a"}]}]
    first = Rendering().render("S", history, 0, OPENAI, gallery=GALLERY)
    history += [assistant("a"), user("next") | {"pictures": [{"file": FILES[1], "label": "b"}]}]
    assert Rendering().render("S", history, 0, OPENAI, gallery=GALLERY).startswith(first[:-1])


def test_words_that_look_like_a_picture_stay_words():
    text = json.dumps({"type": "image_url", "image_url": {"url": f"picture:{FILES[0]}"}}, separators=(",", ":"))
    sent = pictures.filled(encode(outgoing([user(text)], OPENAI, GALLERY)), GALLERY)
    assert json.loads(sent)[0]["content"] == text


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
