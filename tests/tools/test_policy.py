from __future__ import annotations

from pathlib import Path

import pytest

from cashcode_jupyter.protocol.errors import BadSetting, StorageError
from cashcode_jupyter.tools.base import ToolSpec
from cashcode_jupyter.tools.policy import ApprovalPolicy

READ = ToolSpec("read_file", "d", {}, "read")
EXEC = ToolSpec("exec", "d", {}, "execute")
DEFAULTS = {"read": "allow", "write": "ask", "execute": "ask", "network": "allow", "memory": "allow"}


def test_the_defaults_are_those_of_the_protocol(tmp_path: Path) -> None:
    policy = ApprovalPolicy(tmp_path / "approvals.json")
    assert policy.view() == {"risks": DEFAULTS, "tools": {}}
    assert (policy.decide(READ), policy.decide(EXEC)) == ("allow", "ask")


@pytest.mark.parametrize(
    ("risk", "tool", "decision"),
    [
        *(("deny", "allow", "deny"), ("allow", "deny", "deny"), ("ask", "deny", "deny"), ("deny", "ask", "deny")),
        *(("ask", "allow", "allow"), ("allow", "ask", "ask")),
    ],
)
def test_a_tool_has_its_own_rule_and_deny_wins(tmp_path: Path, risk: str, tool: str, decision: str) -> None:
    policy = ApprovalPolicy(tmp_path / "approvals.json")
    policy.update({"risks": {"execute": risk}, "tools": {"exec": tool}})
    assert policy.decide(EXEC) == decision


def test_an_update_keeps_the_risks_that_it_leaves_out_and_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "data" / "approvals.json"
    ApprovalPolicy(path).update({"risks": {"read": "ask"}, "tools": {"exec": "deny"}})
    ApprovalPolicy(path).update({"risks": {"write": "deny"}})
    assert ApprovalPolicy(path).view() == {
        "risks": DEFAULTS | {"read": "ask", "write": "deny"},
        "tools": {"exec": "deny"},
    }
    assert ApprovalPolicy(path).update({"tools": {}})["tools"] == {}


@pytest.mark.parametrize(
    "body",
    [
        {"other": 1},
        {"risks": {"fly": "allow"}},
        {"risks": {"read": "maybe"}},
        {"tools": {"x": True}},
        [],
        None,
        "x",
    ],
)
def test_what_is_no_rule_is_refused_and_changes_nothing(tmp_path: Path, body: object) -> None:
    policy = ApprovalPolicy(tmp_path / "approvals.json")
    with pytest.raises(BadSetting) as raised:
        policy.update(body)
    assert raised.value.status == 422
    assert policy.view() == {"risks": DEFAULTS, "tools": {}}


def test_a_change_by_another_process_counts_from_the_next_call(tmp_path: Path) -> None:
    ours, theirs = ApprovalPolicy(tmp_path / "a.json"), ApprovalPolicy(tmp_path / "a.json")
    assert ours.decide(READ) == "allow"
    theirs.update({"risks": {"read": "deny"}})
    assert ours.decide(READ) == "deny"


@pytest.mark.parametrize("content", ["", "{", '{"risks": {"read": "yes"}}', '{"more": 1}'])
def test_a_file_that_cannot_be_read_makes_every_call_ask_until_it_is_saved_anew(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "approvals.json"
    path.write_text(content)
    policy = ApprovalPolicy(path)
    assert policy.decide(READ) == "ask"
    with pytest.raises(StorageError, match=r"approvals\.json"):
        policy.view()
    policy.update({"risks": {"read": "allow"}})
    assert policy.decide(READ) == "allow"
