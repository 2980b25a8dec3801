from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cashcode_jupyter.testing.fixtures import CashcodeHome

from .conftest import Program

READS = '[[mock:tools,tool=list_dir,arg.path=".",say=A folder]]'


def test_the_answer_alone_is_on_standard_output(cashcode: Program) -> None:
    done = cashcode("ask", "[[mock:text,say=Hello you]]")
    assert (done.code, done.out) == (0, "Hello you\n")


def test_the_answer_is_written_while_it_comes(cashcode: Program) -> None:
    process = cashcode.start("ask", "[[mock:text,text=now%0Aand later,size=4,delay_ms=1000]]")
    assert process.stdout
    assert process.stdout.readline() == "now\n"
    assert process.poll() is None
    assert process.stdout.read() == "and later\n"


def test_a_named_chat_remembers_across_runs(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    cashcode("ask", "--chat", "work", "my name is Bo")
    cashcode("ask", "--chat", "work", "what is my name?")
    body = cashcode_home.model.requests[-1].body
    assert "my name is Bo" in json.dumps(body["messages"])
    assert (cashcode_home.data / "memory" / "work" / "history.jsonl").exists()


def test_without_a_name_each_question_begins_a_chat_whose_id_is_told(
    cashcode: Program, cashcode_home: CashcodeHome
) -> None:
    first = cashcode("ask", "one")
    cashcode("ask", "--new", "two")
    assert "one" not in json.dumps(cashcode_home.model.requests[-1].body["messages"][1:])
    chat_id = first.err.split("--chat ")[1].split()[0]
    assert (cashcode_home.data / "memory" / chat_id).is_dir()


def test_any_words_name_a_chat(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    for question in ("one", "two"):
        assert cashcode("ask", "--chat", "Mein Projekt: Käse", question).code == 0
    [folder] = [entry for entry in (cashcode_home.data / "memory").iterdir() if entry.name.startswith("mein")]
    assert folder.is_dir()
    assert "one" in json.dumps(cashcode_home.model.requests[-1].body["messages"])


@pytest.mark.parametrize("arguments", [("ask",), ("ask", "-")])
def test_the_question_can_come_from_standard_input(
    cashcode: Program, cashcode_home: CashcodeHome, arguments: tuple[str, ...]
) -> None:
    assert cashcode(*arguments, given="a question\nof two lines, 你好 {x} $y\n").code == 0
    assert cashcode_home.model.requests[-1].body["messages"][-1]["content"] == (
        "a question\nof two lines, 你好 {x} $y\n"
    )


def test_without_a_question_the_call_is_wrong(cashcode: Program) -> None:
    done = cashcode("ask", given=" \n")
    assert (done.code, done.out) == (2, "")
    assert "no question" in done.err


def test_tool_steps_are_shown_on_standard_error(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    (cashcode_home.workspace / "notes.txt").write_text("x")
    done = cashcode("ask", READS)
    assert done.out == "A folder\n"
    assert "→ list_dir" in done.err and "✓ list_dir" in done.err


def test_what_would_need_an_approval_is_refused_unless_it_was_approved(
    cashcode: Program, cashcode_home: CashcodeHome
) -> None:
    (cashcode_home.data / "approvals.json").write_text('{"risks": {"read": "ask"}}')
    assert "✗ list_dir" in cashcode("ask", READS).err
    assert "✓ list_dir" in cashcode("ask", "--approve", "read,write", READS).err


def test_the_wanted_model_is_asked(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    cashcode("ask", "--model", "openai_compatible:mock-strict", "hi")
    assert cashcode_home.model.requests[-1].body["model"] == "mock-strict"


def test_json_writes_the_events_of_the_turn_and_nothing_else(cashcode: Program) -> None:
    done = cashcode("ask", "--json", "[[mock:text,say=Hello]]")
    assert done.code == 0
    assert [record["event"] for record in done.records()][:1] == ["ready"]
    assert done.records()[-1]["stop_reason"] == "answered"
    assert done.text() == "Hello"
    assert all(json.loads(line) for line in done.err.splitlines())


def test_without_a_model_the_way_to_one_is_told(without_model: Program) -> None:
    done = without_model("ask", "hi")
    assert (done.code, done.out) == (1, "")
    assert "cashcode starter" in done.err


def test_an_error_of_the_model_is_a_sentence_and_a_failure(cashcode: Program) -> None:
    done = cashcode("ask", "[[mock:fault=500,times=0]]")
    assert done.code == 1
    assert "cashcode doctor" in done.err and "Traceback" not in done.err


def test_an_error_in_json_is_an_event(cashcode: Program) -> None:
    done = cashcode("ask", "--json", "[[mock:fault=500,times=0]]")
    assert done.code == 1
    assert done.records()[-1]["event"] == "error"


def test_ctrl_c_stops_the_turn_and_keeps_what_was_streamed(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    process = cashcode.start("ask", "--chat", "c", "[[mock:text,text=kept%0Alost,size=5,delay_ms=20000]]")
    assert process.stdout
    assert process.stdout.readline() == "kept\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    history = (cashcode_home.data / "memory" / "c" / "history.jsonl").read_text()
    assert "kept" in history and '"cancelled"' in history
    assert cashcode_home.model.wait_for(lambda model: model.aborted == 1)


def test_ctrl_c_while_the_model_is_silent_ends_the_program(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    process = cashcode.start("ask", "[[mock:text,say=x,first_ms=60000]]")
    assert cashcode_home.model.wait_for(lambda model: len(model.requests) == 1, 20)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130


def test_a_reader_that_goes_away_is_no_crash(cashcode: Program) -> None:
    process = cashcode.start("ask", "[[mock:text,chunks=200,size=1000,delay_ms=5]]")
    assert process.stdout and process.stderr
    process.stdout.read(1)
    process.stdout.close()
    assert process.wait(30) == 1
    assert "Traceback" not in process.stderr.read()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("ask", "hi"), ("run",)])
def test_an_output_on_a_full_disk_is_said_in_words(cashcode: Program, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = cashcode.start(*arguments, stdout=full)
        _out, err = process.communicate("hi\n", timeout=60)
    assert process.returncode == 1
    assert "The disk is full" in err and "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(("closed", "status"), [("<&-", 2), (">&-", 0), ("2>&-", 0)])
def test_a_closed_standard_stream_is_no_crash(cashcode: Program, closed: str, status: int) -> None:
    words = "" if closed == "<&-" else "hi"
    command = f"{shlex.quote(sys.executable)} -m cashcode_jupyter.cli ask {words} {closed}"
    done = subprocess.run(
        command, shell=True, cwd=cashcode.folder, env=cashcode.environ, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "gpt"), "PROVIDER:MODEL"),
        (("--model", "ollama:"), "PROVIDER:MODEL"),
        (("--approve", "everything"), "not a risk"),
        (("--chat", " "), "needs a name"),
        (("--chat", "a", "--new"), "not allowed with"),
    ],
)
def test_a_wrong_option_is_named(cashcode: Program, arguments: tuple[str, ...], said: str) -> None:
    done = cashcode("ask", *arguments, "hi")
    assert done.code == 2
    assert said in done.err


def test_a_wrong_call_in_json_is_one_object(cashcode: Program) -> None:
    done = cashcode("ask", "--json", "--model", "gpt", "hi")
    assert done.code == 2
    assert json.loads(done.err)["code"] == "bad_setting"


def test_a_bad_setting_is_a_sentence(cashcode: Program) -> None:
    cashcode.environ["CASHCODE_MAX_ITERATIONS"] = "many"
    done = cashcode("ask", "hi")
    assert done.code == 1
    assert "CASHCODE_MAX_ITERATIONS" in done.err and "Traceback" not in done.err


def test_a_data_dir_that_is_a_file_is_said_in_words(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    blocked = cashcode_home.workspace / "file"
    blocked.touch(stat.S_IRUSR | stat.S_IWUSR)
    cashcode.environ["CASHCODE_DATA_DIR"] = str(blocked / "data")
    done = cashcode("ask", "hi")
    assert done.code == 1
    assert done.err and "Traceback" not in done.err
