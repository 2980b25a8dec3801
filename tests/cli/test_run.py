from __future__ import annotations

import json
import signal

import pytest

from cashcode_jupyter.testing.fixtures import CashcodeHome

from .conftest import Program


def line(**fields: object) -> str:
    return json.dumps(fields) + "\n"


def test_each_line_of_text_is_a_message_to_one_chat_in_order(
    cashcode: Program, cashcode_home: CashcodeHome
) -> None:
    done = cashcode("run", given="one\n\n  two  \nthree")
    assert done.code == 0
    assert len(done.named("done")) == 3
    assert len({record["chat_id"] for record in done.records()}) == 1
    asked = [record["content"] for record in cashcode_home.model.requests[-1].body["messages"]]
    assert [text for text in asked if text in ("one", "two", "three")] == ["one", "two", "three"]


def test_the_run_ends_only_when_the_turn_is_over(cashcode: Program) -> None:
    done = cashcode("run", given="[[mock:text,say=late,first_ms=700]]\n")
    assert done.text() == "late"
    assert done.records()[-1]["event"] == "done"


def test_actions_without_a_chat_mean_the_chat_of_the_run(cashcode: Program) -> None:
    done = cashcode("run", "--chat", "mine", given=line(type="message", content="hi") + line(type="ping"))
    assert [record["chat_id"] for record in done.named("done")] == ["mine"]
    assert len(done.named("pong")) == 1


def test_actions_reach_the_chats_they_name(cashcode: Program) -> None:
    given = line(type="message", chat_id="a", content="hi") + line(type="message", chat_id="b", content="hi")
    done = cashcode("run", given=given)
    assert {record["chat_id"] for record in done.named("done")} == {"a", "b"}


def test_a_retry_is_waited_for_although_its_chat_is_new(cashcode: Program) -> None:
    cashcode("run", "--chat", "first", given="[[mock:text,say=again,first_ms=500]]\n")
    done = cashcode("run", given=line(type="retry", chat_id="first", from_cursor=1))
    assert done.text() == "again"
    assert [record["chat_id"] for record in done.named("done")] != ["first"]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("{not json", "bad_frame"),
        ('{"type": 3}', "bad_frame"),
        ('{"no": "type"}', "bad_frame"),
        ('{"type": "dance"}', "unknown_type"),
        ('{"type": "message", "content": " "}', "missing_content"),
        ('{"type": "message", "chat_id": "../x", "content": "hi"}', "invalid_chat_id"),
        ('{"type": "message", "content": "hi", "metadata": []}', "bad_metadata"),
        ("{" * 100_000, "bad_frame"),
        ("x" * 1_100_000, "bad_frame"),
    ],
)
def test_a_bad_line_is_an_error_event_and_the_next_line_is_heard(cashcode: Program, bad: str, code: str) -> None:
    done = cashcode("run", given=f"{bad}\nstill here\n")
    assert done.code == 0
    assert [record["code"] for record in done.named("error")] == [code]
    assert len(done.named("done")) == 1


def test_both_streams_hold_one_object_a_line(cashcode: Program) -> None:
    done = cashcode("run", given="hi\n{\n")
    assert done.records() and all(isinstance(json.loads(text), dict) for text in done.err.splitlines())


def test_the_controller_can_approve_a_call(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    (cashcode_home.data / "approvals.json").write_text('{"risks": {"read": "ask"}}')
    process = cashcode.start("run")
    assert process.stdin and process.stdout
    process.stdin.write('[[mock:tools,tool=list_dir,arg.path=".",say=seen]]\n')
    process.stdin.flush()
    request = None
    while request is None:
        event = json.loads(process.stdout.readline())
        request = event if event["event"] == "approval_request" else None
    process.stdin.write(line(type="approval", call_id=request["call_id"], decision="allow"))
    out, _err = process.communicate(timeout=30)
    results = [event for event in map(json.loads, out.splitlines()) if event["event"] == "tool_result"]
    assert [result["ok"] for result in results] == [True]


def test_an_approval_that_nobody_can_give_any_more_is_a_denial(
    cashcode: Program, cashcode_home: CashcodeHome
) -> None:
    (cashcode_home.data / "approvals.json").write_text('{"risks": {"read": "ask"}}')
    done = cashcode("run", given='[[mock:tools,tool=list_dir,arg.path=".",say=x]]\n')
    assert [record["ok"] for record in done.named("tool_result")] == [False]
    assert len(done.named("done")) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_run_and_its_turn_cleanly(
    cashcode: Program, cashcode_home: CashcodeHome, number: signal.Signals, code: int
) -> None:
    process = cashcode.start("run", "--chat", "c")
    assert process.stdin and process.stdout
    process.stdin.write("[[mock:text,text=kept%0Alost,size=5,delay_ms=20000]]\n")
    process.stdin.flush()
    while json.loads(process.stdout.readline())["event"] != "delta":
        pass
    process.send_signal(number)
    assert process.wait(10) == code
    assert process.stderr and "Traceback" not in process.stderr.read()
    last = json.loads(process.stdout.read().splitlines()[-1])
    assert (last["event"], last["stop_reason"]) == ("done", "cancelled")
    assert "kept" in (cashcode_home.data / "memory" / "c" / "history.jsonl").read_text()


def test_a_run_without_lines_says_that_it_is_ready_and_ends(cashcode: Program) -> None:
    done = cashcode("run")
    assert (done.code, [record["event"] for record in done.records()]) == (0, ["ready"])


def test_a_wrong_call_is_one_object_on_standard_error(cashcode: Program) -> None:
    done = cashcode("run", "--model", "gpt")
    assert done.code == 2
    assert json.loads(done.err)["code"] == "bad_setting"
