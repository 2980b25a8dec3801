"""Who may run what: asks before a call that the policy does not allow outright.

Rule: deny wins over everything, silence means no, and what runs is exactly what was asked about: the arguments
are frozen as canonical JSON when the question is put, and an answer counts for that text only.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from cashcode_jupyter.logs import event, log
from cashcode_jupyter.protocol.events import Risk
from cashcode_jupyter.tools.arguments import canonical
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem, Toolset, ToolSpec, WrapperToolset
from cashcode_jupyter.tools.policy import ApprovalPolicy

Verdict = Literal["allow", "deny"]
Scope = Literal["once", "turn", "chat"]
Reason = Literal["user", "timeout", "cancelled", "unattended"]
MAX_PREVIEW = 2000
LOG = log("approval")
_REFUSALS: dict[Reason, str] = {
    "user": "The user did not allow this call of {tool}. Do not try it in another way; ask how to go on.",
    "timeout": "Nobody answered in time whether {tool} may run, so it was not run. Go on without it.",
    "cancelled": "The request to allow {tool} was cancelled, so it was not run.",
    "unattended": "{tool} needs a person's approval and nobody can be asked here. Go on without it.",
}


class Denied(ToolProblem):
    """The policy or a person said no, or nobody answered."""


@dataclass(frozen=True)
class ApprovalAsk:
    """One question. `timeout` is in seconds; `arguments_hash` is the SHA-256 of the canonical arguments."""

    chat_id: str
    turn_id: str
    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    arguments_hash: str
    risk: Risk
    preview: str
    timeout: float


@dataclass(frozen=True)
class ApprovalAnswer:
    decision: Verdict
    scope: Scope = "once"
    reason: Reason = "user"


class Approver(Protocol):
    """Who can be asked. `ask` returns within `request.timeout` seconds (no answer in time is a denial with reason
    `timeout`) and may be cancelled."""

    async def ask(self, request: ApprovalAsk) -> ApprovalAnswer: ...


class Unattended:
    """Nobody can be asked: every question is denied at once."""

    async def ask(self, request: ApprovalAsk) -> ApprovalAnswer:
        return ApprovalAnswer("deny", reason="unattended")


class AllowedRisks:
    """Answers yes for some risks (`--approve read,write`) and passes the other questions on."""

    def __init__(self, risks: Collection[Risk], then: Approver) -> None:
        self._risks = frozenset(risks)
        self._then = then

    async def ask(self, request: ApprovalAsk) -> ApprovalAnswer:
        if request.risk in self._risks:
            return ApprovalAnswer("allow")
        return await self._then.ask(request)


class Grants:
    """What people answered for a whole turn or chat. In memory only: a restart asks again."""

    def __init__(self) -> None:
        self._chats: dict[str, dict[str, Verdict]] = {}
        self._turns: dict[str, tuple[str, dict[str, Verdict]]] = {}

    def find(self, chat_id: str, turn_id: str, tool: str) -> Verdict | None:
        """The standing answer; a denial wins over a grant."""
        turn, answers = self._turns.get(chat_id, ("", {}))
        found = {self._chats.get(chat_id, {}).get(tool), answers.get(tool) if turn == turn_id else None}
        return "deny" if "deny" in found else "allow" if "allow" in found else None

    def remember(self, chat_id: str, turn_id: str, tool: str, answer: ApprovalAnswer) -> None:
        """Keep an answer of scope `turn` or `chat`. A chat has one turn at a time: a new one replaces the old."""
        if answer.scope == "chat":
            self._chats.setdefault(chat_id, {})[tool] = answer.decision
        elif answer.scope == "turn":
            turn, answers = self._turns.get(chat_id, ("", {}))
            kept = dict(answers) if turn == turn_id else {}
            kept[tool] = answer.decision
            self._turns[chat_id] = (turn_id, kept)

    def forget_turn(self, chat_id: str) -> None:
        self._turns.pop(chat_id, None)

    def forget_chat(self, chat_id: str) -> None:
        self._turns.pop(chat_id, None)
        self._chats.pop(chat_id, None)


class ApprovalToolset(WrapperToolset):
    """Runs a call of `inner` only if the policy, a grant or a person allows it; raises `Denied` otherwise.

    The orchestrator calls `grants.forget_turn` when a turn ends and `grants.forget_chat` when a chat is deleted.
    """

    def __init__(
        self, inner: Toolset, policy: ApprovalPolicy, approver: Approver, *, timeout: float = 300.0
    ) -> None:
        super().__init__(inner)
        self.grants = Grants()
        self._policy = policy
        self._approver = approver
        self._timeout = timeout

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        spec = self.spec(name)
        if spec is None:
            return await self.inner.call(name, arguments, ctx)
        decision = self._policy.decide(spec)
        if decision == "deny":
            raise Denied(f"The settings do not allow {name}. Go on without it or tell the user what is needed.")
        if decision == "ask":
            arguments = await self._asked(spec, arguments, ctx)
        return await self.inner.call(name, arguments, ctx)

    async def _asked(self, spec: ToolSpec, arguments: dict[str, Any], ctx: CallContext) -> dict[str, Any]:
        standing = self.grants.find(ctx.chat_id, ctx.turn_id, spec.name)
        if standing == "allow":
            return arguments
        if standing == "deny":
            raise Denied(_REFUSALS["user"].format(tool=spec.name))
        frozen = canonical(arguments)
        request = ApprovalAsk(
            chat_id=ctx.chat_id,
            turn_id=ctx.turn_id,
            call_id=ctx.call_id,
            tool_name=spec.name,
            arguments=json.loads(frozen),
            arguments_hash=hashlib.sha256(frozen.encode()).hexdigest(),
            risk=spec.risk,
            preview=preview(spec, json.loads(frozen)),
            timeout=self._timeout,
        )
        answer = await self._approver.ask(request)
        fields = {"call_id": ctx.call_id, "tool": spec.name, "decision": answer.decision, "reason": answer.reason}
        event(LOG, logging.INFO, "approval.resolved", **fields)
        self.grants.remember(ctx.chat_id, ctx.turn_id, spec.name, answer)
        if answer.decision != "allow":
            raise Denied(_REFUSALS[answer.reason].format(tool=spec.name))
        return json.loads(frozen)


def preview(spec: ToolSpec, arguments: dict[str, Any]) -> str:
    """What a person sees of a call: what its tool shows (the command, a diff, the URL), else the arguments."""
    text = spec.preview(arguments) if spec.preview else json.dumps(arguments, ensure_ascii=False, indent=1)
    return (
        text
        if len(text) <= MAX_PREVIEW
        else text[:MAX_PREVIEW] + f"\n… ({len(text) - MAX_PREVIEW:,} more characters)"
    )
