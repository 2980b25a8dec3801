from __future__ import annotations

import json

import pytest

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.kernel.conftest import Kernel

LISTING = directive("tools", tool="list_dir", say="done")


@pytest.fixture(autouse=True)
def ask_before_reading(cashcode_home: CashcodeHome) -> None:
    policy = {"risks": {"read": "ask"}, "tools": {}}
    (cashcode_home.data / "approvals.json").write_text(json.dumps(policy))


@pytest.mark.parametrize(("given", "ok"), [("y", True), ("", False), ("no", False)])
def test_a_person_is_asked_and_enter_means_no(kernel: Kernel, given: str, ok: bool):
    msg_id = kernel.send(f"%%cashcode\n{LISTING}")
    assert "list_dir" in kernel.asked_for_input()
    kernel.client.input(given)
    ran = kernel.collect(msg_id)
    assert ("✓ list_dir" in ran.shown["text/plain"]) is ok
    assert "read" in ran.streamed


def test_ask_asks_as_well(kernel: Kernel):
    kernel.run("import cashcode_jupyter as cashcode")
    msg_id = kernel.send(f"cashcode.ask({LISTING!r}).tool_calls[0].ok")
    kernel.asked_for_input()
    kernel.client.input("y")
    [result] = kernel.collect(msg_id).of("execute_result")
    assert result["data"]["text/plain"] == "True"


def test_where_nobody_can_be_asked_the_tool_is_denied_at_once(kernel: Kernel):
    ran = kernel.run(f"%%cashcode\n{LISTING}", allow_stdin=False)
    assert "✗ list_dir" in ran.shown["text/plain"]


def test_an_interrupt_at_the_question_stops_the_turn(kernel: Kernel):
    msg_id = kernel.send(f"%%cashcode\n{LISTING}")
    kernel.asked_for_input()
    kernel.interrupt()
    assert kernel.collect(msg_id).error["ename"] == "KeyboardInterrupt"
