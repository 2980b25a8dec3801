from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.memory import bubbles
from cashcode_jupyter.memory.chat import CallRecord
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.errors import InvalidChatId, NotFound
from tests.memory.conftest import end, run_turn


async def test_a_turn_is_two_bubbles_with_the_tool_records_folded_in(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    chat.append_user(
        "look",
        turn_id="t",
        message_id="m",
        model_content="look <context>…</context>",
        extra={"mentioned_skills": [{"name": "x"}], "context": [{"kind": "cell"}]},
    )
    chat.append_calls("I look.", [CallRecord("c1", "grep", '{"pattern": "a"}')], turn_id="t")
    long = "r" * 5000
    chat.append_result(
        "c1", "grep", long, turn_id="t", ok=True, duration_sec=0.25, spill="results/c1.txt", risk="read"
    )
    chat.append_assistant("Found.", turn_id="t", reasoning="thought")
    end(chat, "t")
    shown = await sessions.messages("chat")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", shown[0].pop("at"))
    assert shown == [
        {
            "cursor": 1,
            "role": "user",
            "content": "look",
            "mentioned_skills": [{"name": "x"}],
            "context": [{"kind": "cell"}],
        },
        {
            "cursor": 2,
            "role": "assistant",
            "content": "I look.\n\nFound.",
            "parts": [
                {"kind": "text", "text": "I look."},
                {"kind": "call", "call_id": "c1"},
                {"kind": "reasoning", "text": "thought"},
                {"kind": "text", "text": "Found."},
            ],
            "tool_calls": [
                {
                    "call_id": "c1",
                    "tool_name": "grep",
                    "arguments": {"pattern": "a"},
                    "ok": True,
                    "result": long[:2000],
                    "truncated": True,
                    "duration_sec": 0.25,
                    "risk": "read",
                    "spill": "results/c1.txt",
                }
            ],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "estimated": False},
        },
    ]


async def test_pages_meet_without_gap_or_overlap(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    for number in range(1, 12):
        run_turn(chat, number, tools=number % 3)
    whole = await sessions.messages("chat", limit=1000)
    assert len(whole) == 22
    for limit in (1, 2, 3, 7):
        pages, before = [], None
        while page := await sessions.messages("chat", before=before, limit=limit):
            pages[:0] = page
            before = page[0]["cursor"]
            assert len(page) <= limit
        assert pages == whole


async def test_a_seed_chat_is_shown_without_summaries_receipts_and_blank_replies(
    sessions: Sessions, write_history
) -> None:
    write_history(
        "chat",
        {"cursor": 1, "role": "user", "content": "hi"},
        {"cursor": 2, "role": "assistant", "content": "[Skill loaded: pdf@v1 sha256:abc]"},
        {"cursor": 3, "role": "assistant", "content": "ho"},
        {"cursor": 4, "role": "summary", "content": "secret summary", "keep_from_cursor": 1},
        {"cursor": 5, "role": "user", "content": "again"},
        {"cursor": 6, "role": "assistant", "content": ""},
    )
    shown = await sessions.messages("chat")
    assert [(bubble["role"], bubble["content"]) for bubble in shown] == [
        ("user", "hi"),
        ("assistant", "ho"),
        ("user", "again"),
    ]


async def test_a_call_without_result_and_arguments_that_are_no_object_are_shown(
    sessions: Sessions, write_history
) -> None:
    calls = [
        {"id": "a", "function": {"name": "exec", "arguments": "{broken"}},
        {"id": "b", "function": {"name": "exec", "arguments": '{"command": "ls"}'}},
    ]
    write_history(
        "chat",
        {"cursor": 1, "role": "user", "content": "hi"},
        {"cursor": 2, "role": "tool_calls", "content": "", "tool_calls": calls},
        {"cursor": 3, "role": "tool", "tool_call_id": "b", "content": "Error: no such file"},
    )
    rows = (await sessions.messages("chat"))[1]["tool_calls"]
    assert rows[0]["arguments"] == {"unparsed": "{broken"} and rows[0]["result"] == ""
    assert rows[1]["ok"] is False and rows[1]["result"] == "Error: no such file"


async def test_an_interrupted_answer_and_a_steered_turn_keep_their_order(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    chat.append_user("first", turn_id="t", message_id="m1")
    chat.append_assistant("half", turn_id="t")
    chat.append_user("steer", turn_id="t", message_id="m2")
    chat.append_assistant("rest", turn_id="t", partial=True)
    end(chat, "t")
    shown = await sessions.messages("chat")
    assert [bubble["content"] for bubble in shown] == ["first", "half", "steer", "rest"]
    assert [("usage" in bubble) for bubble in shown] == [False, False, False, True]


async def test_an_answer_that_is_one_text_has_no_parts_and_no_outcome(sessions: Sessions) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    [_question, answer] = await sessions.messages("chat")
    assert set(answer) == {"cursor", "role", "content", "usage"}


@pytest.mark.parametrize(
    ("reason", "error", "outcome"),
    [
        ("cancelled", None, {"stop_reason": "cancelled"}),
        ("error", "llm_timeout", {"stop_reason": "error", "error": "llm_timeout"}),
        ("interrupted", None, {"stop_reason": "interrupted"}),
    ],
)
@pytest.mark.parametrize("said", ["", "half an"])
async def test_how_a_turn_ended_is_told_by_its_last_bubble(
    sessions: Sessions, reason: str, error: str | None, outcome: dict, said: str
) -> None:
    chat = await sessions.open("chat")
    run_turn(chat, 1)
    chat.append_user("and now?", turn_id="t2", message_id="m2")
    if said:
        chat.append_assistant(said, turn_id="t2", partial=True)
    chat.end_turn("t2", stop_reason=reason, usage={}, duration_sec=0.1, last_seq=20, tool_calls=0, error=error)
    run_turn(chat, 3)
    shown = await sessions.messages("chat")
    [unanswered] = [bubble for bubble in shown if "outcome" in bubble]
    assert unanswered["outcome"] == outcome
    assert unanswered["content"] == (said or "and now?")


async def test_unknown_and_invalid_chats_are_refused(sessions: Sessions) -> None:
    with pytest.raises(NotFound):
        await sessions.messages("nobody")
    for bad in ("", "..", "a/b", "a\n", "a" * 65, "%2e%2e"):
        with pytest.raises(InvalidChatId):
            await sessions.messages(bad)


RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "tool", "tool_calls", "summary", "turn", "?"])
        | st.none()
        | st.just(["user"]),
        "cursor": st.integers(0, 20) | st.text(max_size=2),
        "content": st.text(max_size=5) | st.none() | st.integers(),
        "tool_calls": st.lists(st.dictionaries(st.sampled_from(["id", "function"]), st.none() | st.text())),
        "tool_call_id": st.text(max_size=2),
        "usage": st.none() | st.text() | st.dictionaries(st.text(), st.integers()),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(RECORDS, max_size=20), before=st.none() | st.integers(-1, 25), limit=st.integers(-1, 5))
def test_any_history_can_be_shown(tmp_path_factory, records: list[dict], before: int | None, limit: int) -> None:
    path = tmp_path_factory.mktemp("chat") / "history.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for bubble in bubbles.page(path, before=before, limit=limit):
        assert bubble["role"] in ("user", "assistant") and isinstance(bubble["content"], str)
        assert before is None or bubble["cursor"] < before
