from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.protocol.actions import (
    ACTIONS,
    Attach,
    Cancel,
    Message,
    Rejection,
    parse_action,
    parse_metadata,
    valid_chat_id,
)
from cashcode_jupyter.protocol.errors import BadMetadata


def frame(**fields: object) -> str:
    return json.dumps(fields)


def metadata_problem(value: object) -> str:
    with pytest.raises(BadMetadata) as problem:
        parse_metadata(value)
    return problem.value.detail


def test_the_seeds_frames_are_understood():
    assert parse_action(frame(type="message", chat_id="a", content="hi")) == Message(chat_id="a", content="hi")
    assert parse_action(frame(type="stop", chat_id="a")) == Cancel(type="stop", chat_id="a")
    assert parse_action(b'{"type":"attach","chat_id":"a","after_seq":3}') == Attach(chat_id="a", after_seq=3)


def test_unknown_fields_are_ignored():
    assert parse_action(frame(type="ping", extra={"deep": [1]})).type == "ping"


def test_a_message_keeps_its_content_byte_for_byte():
    content = "  {braces} $x \n\n"
    action = parse_action(frame(type="message", chat_id="a", content=content))
    assert isinstance(action, Message) and action.content == content


def test_a_lone_surrogate_in_a_message_is_mended_not_refused():
    action = parse_action('{"type":"message","chat_id":"a","content":"half \\ud83d emoji"}')
    assert isinstance(action, Message) and action.content == "half \ufffd emoji"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "metadata must be an object"),
        ({"mentioned_skills": {}}, "mentioned_skills must be a list"),
        ({"mentioned_skills": ["x"]}, "mentioned_skills entries must be objects"),
        ({"mentioned_skills": [{"name": "Bad Name"}]}, "mentioned_skills.name is invalid"),
        ({"mentioned_skills": [{"name": "a", "label": 1}]}, "mentioned_skills.label must be a string"),
        (
            {"selected_mcp_connectors": [{"server": "a", "label": "x" * 101}]},
            "selected_mcp_connectors.label must be at most 100 characters",
        ),
        ({"selected_mcp_connectors": [{"server": "a.b"}]}, "selected_mcp_connectors.server is invalid"),
        (
            {"mentioned_skills": [{"name": "a"}] * 5, "selected_mcp_connectors": [{"server": "a"}] * 4},
            "at most 8 Skill/MCP selections are allowed",
        ),
        ({"llm": []}, "llm must be an object"),
        ({"llm": {"provider": "x", "model": "m"}}, "llm.provider is invalid"),
        ({"llm": {"provider": "ollama", "model": 3}}, "llm.model must be a string"),
        ({"llm": {"provider": "ollama", "model": " "}}, "llm.model is invalid"),
        ({"context": [{"kind": "cell", "text": "x" * 100_001}]}, "context.text: String should have at most 100000"),
        ({"context": [{"kind": "secret", "text": "x"}]}, "context.kind"),
    ],
)
def test_bad_metadata_is_refused_in_the_seeds_words(value: object, sentence: str):
    assert metadata_problem(value).startswith(sentence)


def test_selections_are_counted_before_duplicates_are_dropped_and_the_first_is_kept():
    rows = [{"name": "a", "label": " First\0 "}, {"name": "a", "label": "second"}]
    [kept] = parse_metadata({"mentioned_skills": rows}).mentioned_skills
    assert (kept.name, kept.label) == ("a", "First")


@pytest.mark.parametrize("chat_id", ["", "a" * 65, "a/b", "..", "a\n", "a b", "ä", None, 3])
def test_only_full_matches_are_chat_ids(chat_id: object):
    assert not valid_chat_id(chat_id)


@given(st.binary(max_size=60) | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_any_frame_is_an_action_or_a_typed_rejection(raw: str | bytes):
    try:
        parse_action(raw)
    except Rejection as rejection:
        assert rejection.error.code in ("bad_frame", "unknown_type", "invalid_chat_id", "missing_content")


def test_actions_come_back_from_their_own_json():
    action = Message(
        chat_id="a", content="x", metadata=parse_metadata({"llm": {"provider": "ollama", "model": "m"}})
    )
    assert parse_action(action.model_dump_json()) == action == ACTIONS.validate_json(action.model_dump_json())
