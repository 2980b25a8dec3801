from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.agent.journal import MAX_FINISHED_BYTES, MAX_OLD_BYTES, Journal, SlowReader
from cashcode_jupyter.protocol.events import EVENTS, Pong, StreamEnd, ToolCall


def read_from(journal: Journal, position: int) -> list[dict]:
    frames = []
    while (entry := journal.next_after(position)) is not None:
        position = entry.seq
        frames.append(json.loads(entry.frame))
    return frames


def say(journal: Journal, *pieces: str) -> None:
    for piece in pieces:
        journal.add_text("delta", piece, stream_id=7, turn_id="t1")


def test_numbers_grow_by_one_from_one():
    journal = Journal("a")
    say(journal, "x")
    journal.add(StreamEnd(turn_id="t1", stream_id=7))
    assert [frame["seq"] for frame in read_from(journal, 0)] == [1, 2]


def test_an_event_that_cannot_be_encoded_takes_no_number():
    journal = Journal("a")
    deep: dict = {}
    for _level in range(2000):
        deep = {"a": deep}
    with pytest.raises((ValueError, RecursionError)):
        journal.add(ToolCall(turn_id="t1", call_id="c", tool_name="x", arguments=deep, risk="read", stream_id=7))
    journal.add(StreamEnd(turn_id="t1", stream_id=7))
    assert [frame["seq"] for frame in read_from(journal, 0)] == [1]


def test_deltas_that_were_not_read_are_joined():
    journal = Journal("a")
    say(journal, "one ", "two ", "three")
    [frame] = read_from(journal, 0)
    assert (frame["first_seq"], frame["seq"], frame["text"]) == (1, 3, "one two three")


def test_a_reader_in_the_middle_of_a_run_gets_only_what_it_did_not_see():
    journal = Journal("a")
    say(journal, "one ", "two ", "three")
    [frame] = read_from(journal, 2)
    assert (frame.get("first_seq"), frame["seq"], frame["text"]) == (None, 3, "three")


def test_a_text_frame_is_the_json_of_the_event_model():
    journal = Journal("chät")
    say(journal, "schön ", '"quoted"\n', "\ud83d")
    [frame] = read_from(journal, 0)
    event = EVENTS.validate_python(frame)
    assert event.payload() == frame


def test_reasoning_and_answer_are_not_joined():
    journal = Journal("a")
    journal.add_text("reasoning", "hm", stream_id=7, turn_id="t1")
    say(journal, "yes")
    assert [frame["event"] for frame in read_from(journal, 0)] == ["reasoning", "delta"]


@given(
    script=st.lists(st.one_of(st.text(min_size=1, max_size=3), st.just(None)), max_size=30),
    stops=st.sets(st.integers(0, 30)),
)
def test_whatever_the_pace_a_reader_sees_every_number_once_and_all_text(script, stops):
    journal, position, seen, text = Journal("a"), 0, [], ""
    for step, piece in enumerate(script):
        if piece is None:
            journal.add(Pong())
        else:
            say(journal, piece)
        if step in stops:
            for frame in read_from(journal, position):
                seen.extend(range(frame.get("first_seq", frame["seq"]), frame["seq"] + 1))
                text += frame.get("text", "")
            position = journal.seq
    for frame in read_from(journal, position):
        seen.extend(range(frame.get("first_seq", frame["seq"]), frame["seq"] + 1))
        text += frame.get("text", "")
    assert seen == list(range(1, len(script) + 1))
    expected = "".join(piece for piece in script if piece is not None)
    assert text == expected.encode("utf-8", "replace").decode()


def test_small_turns_are_kept_so_that_no_reader_is_just_too_late():
    journal = Journal("a")
    for turn in range(5):
        journal.begin_turn()
        say(journal, f"answer {turn}")
    assert [frame["text"] for frame in read_from(journal, 0)] == [f"answer {turn}" for turn in range(5)]


def test_of_larger_turns_the_last_two_are_kept():
    journal = Journal("a")
    for turn in range(3):
        journal.begin_turn()
        say(journal, str(turn) * (MAX_OLD_BYTES + 1))
    assert [frame["text"][0] for frame in read_from(journal, journal.floor)] == ["1", "2"]
    with pytest.raises(SlowReader):
        journal.next_after(0)


def test_a_huge_finished_turn_is_forgotten_when_the_next_begins():
    journal = Journal("a")
    journal.begin_turn()
    say(journal, "x" * (MAX_FINISHED_BYTES + 1))
    journal.begin_turn()
    assert journal.floor == journal.seq == 1


def test_an_attaching_client_is_led_to_the_running_turn_at_the_earliest():
    journal = Journal("a")
    journal.begin_turn()
    say(journal, "old")
    journal.begin_turn()
    journal.add(Pong())
    say(journal, "new")
    assert journal.replay_position(0) == 1
    assert journal.replay_position(2) == 2
    assert journal.replay_position(10**6) == 1, "a number of an earlier process: nothing was seen of this turn"
