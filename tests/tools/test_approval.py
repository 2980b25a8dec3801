from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cashcode_jupyter.tools.approval import (
    AllowedRisks,
    ApprovalAnswer,
    ApprovalAsk,
    ApprovalToolset,
    Approver,
    Denied,
    Unattended,
)
from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, UnknownTool
from cashcode_jupyter.tools.functions import FunctionToolset, tool
from cashcode_jupyter.tools.policy import ApprovalPolicy
from cashcode_jupyter.tools.questions import Questions

Make = Callable[..., CallContext]


class Command(Arguments):
    command: str


class Bench:
    """`exec` and `look` behind approval; `ran` are the commands that ran, `open` the questions as they come."""

    def __init__(self, policy: ApprovalPolicy, approver: Approver | None = None, timeout: float = 60) -> None:
        self.ran: list[str] = []
        self.open: asyncio.Queue[ApprovalAsk] = asyncio.Queue()
        self.resolved: list[tuple[str, ApprovalAnswer]] = []
        self.questions = Questions(
            self.open.put_nowait, lambda request, answer: self.resolved.append((request.call_id, answer))
        )
        inner = FunctionToolset(
            [
                tool(
                    "exec", "d", Command, self._run, risk="execute", preview=lambda given: f"$ {given['command']}"
                ),
                tool("look", "d", Command, self._run, risk="read"),
            ]
        )
        self.tools = ApprovalToolset(inner, policy, approver or self.questions, timeout=timeout)

    async def _run(self, given: Command, ctx: CallContext) -> str:
        self.ran.append(given.command)
        return "done"

    async def exec(self, ctx: CallContext, command: str = "ls") -> str:
        return (await self.tools.call("exec", {"command": command}, ctx)).text


@pytest.fixture
def policy(tmp_path: Path) -> ApprovalPolicy:
    return ApprovalPolicy(tmp_path / "approvals.json")


async def asked(bench: Bench, ctx: CallContext, command: str = "ls") -> tuple[asyncio.Task[str], ApprovalAsk]:
    task = asyncio.create_task(bench.exec(ctx, command))
    return task, await bench.open.get()


async def test_what_the_policy_allows_runs_unasked(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    await bench.tools.call("look", {"command": "x"}, context())
    assert bench.ran == ["x"] and bench.open.empty()


async def test_a_question_shows_what_would_run_and_yes_runs_it(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy, timeout=12)
    task, request = await asked(bench, context("call_5"), "rm x")
    assert bench.ran == []
    assert (request.tool_name, request.call_id, request.risk, request.timeout) == ("exec", "call_5", "execute", 12)
    assert request.preview == "$ rm x"
    assert request.arguments_hash == hashlib.sha256(b'{"command":"rm x"}').hexdigest()
    assert bench.questions.open("c1") == [request]
    assert bench.questions.answer("c1", "call_5", "allow")
    assert await task == "done" and bench.ran == ["rm x"]


async def test_no_is_a_refusal_that_the_model_can_read(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context())
    bench.questions.answer("c1", "call_1", "deny")
    with pytest.raises(Denied, match="did not allow"):
        await task
    assert bench.ran == []


async def test_what_runs_is_what_was_asked_about(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    arguments: dict[str, Any] = {"command": "ls"}
    task = asyncio.create_task(bench.tools.call("exec", arguments, context()))
    request = await bench.open.get()
    arguments["command"] = request.arguments["command"] = "rm -rf /"
    bench.questions.answer("c1", "call_1", "allow")
    await task
    assert bench.ran == ["ls"]


async def test_silence_means_no(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy, timeout=0.01)
    with pytest.raises(Denied, match="Nobody answered"):
        await bench.exec(context())
    assert bench.ran == []
    assert bench.resolved == [("call_1", ApprovalAnswer("deny", reason="timeout"))]


async def test_late_second_and_foreign_answers_change_nothing(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    assert not bench.questions.answer("c1", "call_1", "allow")
    task, _ = await asked(bench, context())
    assert not bench.questions.answer("c2", "call_1", "allow")
    assert not bench.questions.answer("c1", "call_2", "allow")
    assert bench.questions.answer("c1", "call_1", "deny")
    assert not bench.questions.answer("c1", "call_1", "allow", "chat")
    with pytest.raises(Denied):
        await task
    assert not bench.questions.answer("c1", "call_1", "allow")
    assert bench.ran == []


async def test_two_open_questions_cannot_share_a_call_id(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context(), "ls")
    with pytest.raises(Denied):
        await bench.exec(context(), "rm x")
    bench.questions.answer("c1", "call_1", "allow")
    await task
    assert bench.ran == ["ls"]


async def test_cancelling_the_turn_ends_the_wait(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.resolved == [("call_1", ApprovalAnswer("deny", reason="cancelled"))]
    assert bench.questions.open("c1") == []
    assert not bench.questions.answer("c1", "call_1", "allow")


async def test_once_is_for_one_call(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    for call_id in ("call_1", "call_2"):
        task, _ = await asked(bench, context(call_id))
        bench.questions.answer("c1", call_id, "allow", "once")
        await task


async def test_a_grant_for_the_turn_ends_with_the_turn(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context("call_1", "t1"))
    bench.questions.answer("c1", "call_1", "allow", "turn")
    await task
    assert await bench.exec(context("call_2", "t1"), "other") == "done"
    bench.tools.grants.forget_turn("c1")
    for turn in ("t1", "t2"):
        task, _ = await asked(bench, context("call_3", turn))
        bench.questions.answer("c1", "call_3", "deny")
        with pytest.raises(Denied):
            await task


async def test_a_grant_for_the_turn_does_not_reach_the_next_even_if_nobody_forgot_it(
    policy: ApprovalPolicy, context: Make
) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context("call_1", "t1"))
    bench.questions.answer("c1", "call_1", "allow", "turn")
    await task
    task, _ = await asked(bench, context("call_2", "t2"))
    bench.questions.answer("c1", "call_2", "allow")
    await task


async def test_a_grant_for_the_chat_is_for_this_chat_and_tool_until_it_is_forgotten(
    policy: ApprovalPolicy, context: Make
) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context("call_1", "t1"))
    bench.questions.answer("c1", "call_1", "allow", "chat")
    await task
    assert await bench.exec(context("call_2", "t2")) == "done"
    other, _ = await asked(bench, context("call_1", "t1", "c2"))
    bench.questions.answer("c2", "call_1", "allow")
    await other
    bench.tools.grants.forget_chat("c1")
    task, _ = await asked(bench, context("call_3", "t3"))
    bench.questions.answer("c1", "call_3", "allow")
    await task


async def test_deny_in_the_settings_wins_over_a_grant_and_asks_nobody(
    policy: ApprovalPolicy, context: Make
) -> None:
    bench = Bench(policy)
    task, _ = await asked(bench, context("call_1"))
    bench.questions.answer("c1", "call_1", "allow", "chat")
    await task
    policy.update({"tools": {"exec": "deny"}})
    with pytest.raises(Denied, match="settings"):
        await bench.exec(context("call_2"))
    assert bench.open.empty() and len(bench.ran) == 1


async def test_where_nobody_can_be_asked_ask_means_deny(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy, Unattended())
    with pytest.raises(Denied, match="nobody can be asked here"):
        await bench.exec(context())
    assert bench.ran == []


async def test_headless_runs_allow_the_risks_they_were_started_with(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy, AllowedRisks(["execute"], Unattended()))
    assert await bench.exec(context()) == "done"
    with pytest.raises(Denied):
        await Bench(policy, AllowedRisks(["write"], Unattended())).exec(context())
    policy.update({"risks": {"execute": "deny"}})
    with pytest.raises(Denied, match="settings"):
        await bench.exec(context())


async def test_an_unknown_tool_is_not_asked_about(policy: ApprovalPolicy, context: Make) -> None:
    bench = Bench(policy)
    with pytest.raises(UnknownTool):
        await bench.tools.call("nope", {}, context())
    assert bench.open.empty()
