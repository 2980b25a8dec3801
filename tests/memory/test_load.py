from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from cashcode_jupyter.memory import load as smart
from cashcode_jupyter.memory.load import load
from cashcode_jupyter.memory.records import SUMMARY_PREFIX
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.storage.ledger import Ledger


def seed_call(cursor: int, *ids: str) -> dict:
    calls = [{"id": i, "type": "function", "function": {"name": "web_fetch", "arguments": "{}"}} for i in ids]
    return {"cursor": cursor, "role": "tool_calls", "content": "[TOOL_CALLS: web_fetch]", "tool_calls": calls}


def said(folder: Path) -> list[str]:
    return [message["content"] for message in load(Ledger.open(folder / "history.jsonl")).messages]


def dialogue(first: int, last: int) -> list[dict]:
    return [
        {"cursor": number, "role": "user" if number % 2 else "assistant", "content": f"text {number}"}
        for number in range(first, last + 1)
    ]


def test_a_seed_chat_loads_with_its_tool_work(write_history) -> None:
    folder = write_history(
        "chat",
        {"cursor": 1, "role": "user", "content": "hello", "mentioned_skills": []},
        {"cursor": 2, "role": "assistant", "content": "hello!"},
        {"cursor": 3, "role": "user", "content": "fetch"},
        seed_call(4, "call_x"),
        {"cursor": 5, "role": "tool", "content": "", "tool_call_id": "call_x", "name": "web_fetch"},
        {"cursor": 6, "role": "assistant", "content": "based on the page"},
    )
    loaded = load(Ledger.open(folder / "history.jsonl"))
    assert [message["role"] for message in loaded.messages] == [
        *("user", "assistant"),
        *("user", "assistant", "tool", "assistant"),
    ]
    assert loaded.messages[4]["content"] == "", "an empty result stays with its call"
    assert loaded.open_turn is None and loaded.left_out == 0


def test_the_last_summary_stands_for_what_is_before_its_keep_from_cursor(write_history) -> None:
    folder = write_history(
        "chat",
        *dialogue(1, 4),
        {"cursor": 5, "role": "summary", "content": "old", "keep_from_cursor": 1},
        *dialogue(6, 9),
        {"cursor": 10, "role": "summary", "content": "all", "keep_from_cursor": 7},
        *dialogue(11, 12),
    )
    assert said(folder) == [SUMMARY_PREFIX + "all", "text 7", "text 8", "text 9", "text 11", "text 12"]


@pytest.mark.parametrize("keep", [{}, {"keep_from_cursor": None}, {"keep_from_cursor": "3"}])
def test_a_summary_without_a_usable_keep_from_cursor_stands_for_all_before_it(write_history, keep: dict) -> None:
    folder = write_history(
        "chat", *dialogue(1, 4), {"cursor": 5, "role": "summary", "content": "s"} | keep, *dialogue(7, 8)
    )
    assert said(folder) == [SUMMARY_PREFIX + "s", "text 7", "text 8"]


def test_records_by_hand_of_any_shape_load(write_history) -> None:
    folder = write_history(
        "chat",
        {"role": "user", "content": [{"type": "text", "text": "from a list"}]},
        {"role": "assistant", "content": None},
        {"role": "tool_calls", "content": "[TOOL_CALLS: x]", "tool_calls": "not a list"},
        {"role": "tool", "content": "orphan without id"},
        {"role": "mystery", "content": "?"},
        {"content": "no role"},
        {"role": ["user"], "content": "x"},
        "not json at all",
        {"role": "assistant", "content": 42},
    )
    assert said(folder) == ["from a list", "42"]


def test_without_summary_the_newest_turns_are_loaded_and_the_rest_counted(write_history) -> None:
    folder = write_history("chat", *dialogue(1, 5000))
    loaded = load(Ledger.open(folder / "history.jsonl"))
    assert loaded.messages[0] == {"role": "user", "content": "text 4001"}
    assert loaded.messages[-1]["content"] == "text 5000"
    assert loaded.left_out == 4000


def test_long_records_bound_the_load_by_their_bytes(write_history) -> None:
    folder = write_history("chat", *(record | {"content": "x" * 100_000} for record in dialogue(1, 200)))
    loaded = load(Ledger.open(folder / "history.jsonl"))
    assert smart.MAX_BYTES // 100_000 <= len(loaded.messages) <= smart.MAX_BYTES // 100_000 + 4
    assert loaded.messages[0]["role"] == "user" and loaded.left_out == 200 - len(loaded.messages)


def test_the_load_begins_with_a_user_message_also_when_a_turn_is_longer_than_the_bound(write_history) -> None:
    many = [record for n in range(3, 2603, 2) for record in (
        seed_call(n, f"c{n}"), {"cursor": n + 1, "role": "tool", "content": "r", "tool_call_id": f"c{n}"}
    )]  # fmt: skip
    folder = write_history(
        "chat", *dialogue(1, 2), {"cursor": 3, "role": "user", "content": "work"}, *many, *dialogue(2700, 2700)
    )
    loaded = load(Ledger.open(folder / "history.jsonl"))
    assert loaded.messages[0]["content"] == "work" and loaded.left_out == 2


def test_a_history_without_any_user_message_does_not_load_whole(write_history) -> None:
    folder = write_history("chat", *({"role": "assistant", "content": "x", "cursor": n} for n in range(1, 9000)))
    assert len(said(folder)) < 5000


@pytest.mark.parametrize(
    ("tail", "missing"),
    [
        ([{"cursor": 3, "role": "user", "content": "q"}], 0),
        ([{"cursor": 3, "role": "user", "content": "q"}, seed_call(4, "a", "b")], 2),
        (
            [
                {"cursor": 3, "role": "user", "content": "q"},
                seed_call(4, "a", "b"),
                {"cursor": 5, "role": "tool", "tool_call_id": "a", "content": ""},
            ],
            1,
        ),
    ],
)
async def test_a_seed_turn_that_was_torn_between_records_is_closed(
    write_history, sessions: Sessions, tail: list[dict], missing: int
) -> None:
    folder = write_history("chat", *dialogue(1, 2), *tail)
    chat = await sessions.open("chat")
    added = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()][2 + len(tail) :]
    assert [record["role"] for record in added] == ["tool"] * missing + ["turn"]
    assert len(chat.messages) == 2 + len(tail) + missing


async def test_a_whole_seed_chat_is_not_touched_by_opening_it(write_history, sessions: Sessions) -> None:
    folder = write_history("chat", *dialogue(1, 2))
    (folder / ".cursor").write_text("2")
    before = (folder / "history.jsonl").read_bytes()
    await sessions.open("chat")
    assert (folder / "history.jsonl").read_bytes() == before


async def test_the_event_number_before_a_summary_is_found(write_history, sessions: Sessions) -> None:
    write_history(
        "chat",
        {"cursor": 1, "role": "user", "content": "a", "turn_id": "t1"},
        {"cursor": 2, "role": "assistant", "content": "b", "turn_id": "t1"},
        {"cursor": 3, "role": "turn", "content": "", "turn_id": "t1", "last_seq": 77},
        {"cursor": 4, "role": "user", "content": "c", "turn_id": "t2"},
        {"cursor": 5, "role": "summary", "content": "s", "keep_from_cursor": 4},
    )
    assert (await sessions.open("chat")).last_seq == 77 + 1_000_000


@pytest.mark.parametrize("broken", [-5, True, 10**30, "9", 1.5])
async def test_an_event_number_that_a_hand_broke_does_not_count(
    write_history, sessions: Sessions, broken: object
) -> None:
    write_history(
        "chat",
        {"cursor": 1, "role": "user", "content": "a", "turn_id": "t1"},
        {"cursor": 2, "role": "turn", "content": "", "turn_id": "t1", "last_seq": 7},
        {"cursor": 3, "role": "user", "content": "b", "turn_id": "t2"},
        {"cursor": 4, "role": "turn", "content": "", "turn_id": "t2", "last_seq": broken},
    )
    assert (await sessions.peek("chat")).last_seq == 7
    assert (await sessions.open("chat")).last_seq == 7


async def test_resuming_a_long_chat_takes_the_time_of_its_tail(write_history, paths: Paths) -> None:
    def best(chat_id: str, length: int) -> float:
        folder = write_history(chat_id, *(record | {"content": "x" * 200} for record in dialogue(1, length)))
        times = []
        for _attempt in range(15):
            start = time.perf_counter()
            ledger = Ledger.open(folder / "history.jsonl")
            load(ledger)
            times.append(time.perf_counter() - start)
            ledger.close()
        return min(times)

    assert best("long", 100_000) <= 1.5 * best("short", 1000)
