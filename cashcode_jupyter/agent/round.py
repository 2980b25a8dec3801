"""The tool calls of one model answer: checked, recorded, run (together where that is safe) and answered in order.

A call whose arguments cannot be read is never run with guessed ones; it is answered with what was wrong. Calls
are on disk before they run, results before the model sees them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import uuid4

from cashcode_jupyter import logs
from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.agent.guard import REFUSAL, LoopGuard, Verdict, signature
from cashcode_jupyter.agent.speech import Speech
from cashcode_jupyter.llm.client import Completion, ToolCallDraft
from cashcode_jupyter.memory.chat import CallRecord, ChatLog
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.protocol.events import ToolCall, ToolResult
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.tools.arguments import ArgumentProblem, parse_arguments, read_json
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem, Toolset, ToolSpec, UnknownTool
from cashcode_jupyter.tools.registry import closest_names

LOG = logs.log("tools")
MAX_CALLS = 128
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

CUT_OFF = "This call was cut off before its arguments were complete, so it was not run. Make it again, shorter."
NOT_RUN = "This call was not run: the turn was stopped before it."
STOPPED = "The turn was stopped while this call ran; whether it took effect is not known."
TOO_MANY = (
    "This call and those after it were not run: {count} calls came in one answer, at most {limit} are run. "
    "Make those that are still needed in your next answer."
)
CRASHED = "The tool failed unexpectedly ({kind}). It is a defect of the tool, not of your arguments."


@dataclass
class _Call:
    """One call from request to answer. `problem` is why it cannot run; `outcome` is set once it is answered."""

    id: str
    name: str
    arguments: dict[str, Any]
    spec: ToolSpec | None
    problem: str | None = None
    started: bool = False
    outcome: ToolOutcome | None = None
    duration_sec: float = 0.0
    recorded: bool = False

    def record(self, redactor: Redactor) -> CallRecord:
        """The call as it is kept, without configured secrets; the model reads it again."""
        arguments = redactor.known_value(self.arguments)
        return CallRecord(self.id, self.name, json.dumps(arguments, ensure_ascii=False))

    @property
    def risk(self) -> Any:
        return self.spec.risk if self.spec else "read"

    @property
    def parallel(self) -> bool:
        return self.problem is not None or bool(self.spec and self.spec.parallel)


class ToolRound:
    """Runs the rounds of one turn; `run` is called once for each model answer that has calls."""

    def __init__(
        self,
        bus: Bus,
        tools: Toolset,
        chat: ChatLog,
        speech: Speech,
        redactor: Redactor,
        workspace: Path,
    ) -> None:
        self._bus = bus
        self._tools = tools
        self._chat = chat
        self._speech = speech
        self._redactor = redactor
        self._workspace = workspace
        self._guard = LoopGuard()
        self._used_ids: set[str] | None = None
        self._calls: list[_Call] = []

    async def run(self, completion: Completion, turn_id: str) -> str | None:
        """Answer all calls of `completion`; gives the name of the tool when the model is going in circles."""
        specs = {spec.name: spec for spec in self._tools.specs()}
        self._calls = [self._plan(draft, specs) for draft in completion.tool_calls[: MAX_CALLS + 1]]
        for beyond in self._calls[MAX_CALLS:]:
            beyond.problem = TOO_MANY.format(count=len(completion.tool_calls), limit=MAX_CALLS)
        self._chat.append_calls(
            self._speech.words,
            [call.record(self._redactor) for call in self._calls],
            turn_id=turn_id,
            reasoning=completion.reasoning,
        )
        self._speech.kept()
        looping = None
        for batch in self._batches():
            for call in batch:
                if self._check(call) is Verdict.STOP:
                    looping = call.name
                self._announce(call, turn_id)
            if looping is None:
                async with asyncio.TaskGroup() as group:
                    for call in batch:
                        group.create_task(self._answer(call, turn_id))
            else:
                for call in batch:
                    self._finish(call, ToolOutcome(False, REFUSAL, preview=REFUSAL), turn_id)
            for call in batch:
                self._record(call, turn_id)
        return looping

    def settle(self, turn_id: str, *, cancelled: bool) -> None:
        """The turn ends in the middle of a round: every call gets a result, honest about what is not known."""
        for call in self._calls:
            if not call.recorded:
                if call.outcome is None:
                    text = STOPPED if call.started and call.risk != "read" else NOT_RUN
                    self._finish(call, ToolOutcome(False, text, preview=text), turn_id)
                self._record(call, turn_id)
        self._calls = []

    def _plan(self, draft: ToolCallDraft, specs: dict[str, ToolSpec]) -> _Call:
        call_id = self._own_id(draft.id)
        spec = specs.get(draft.name)
        if not draft.complete:
            return _Call(call_id, draft.name, {"unparsed": draft.arguments[:4000]}, spec, problem=CUT_OFF)
        if spec is None:
            problem = UnknownTool(draft.name, closest_names(draft.name, specs)).text
            return _Call(call_id, draft.name, _as_object(draft.arguments), None, problem=problem)
        try:
            return _Call(call_id, draft.name, parse_arguments(draft.arguments, spec), spec)
        except ArgumentProblem as problem:
            return _Call(call_id, draft.name, _as_object(draft.arguments), spec, problem=problem.text)

    def _own_id(self, call_id: str) -> str:
        if self._used_ids is None:
            calls = (call for message in self._chat.messages for call in message.get("tool_calls") or ())
            self._used_ids = {call["id"] for call in calls}
        if SAFE_ID.fullmatch(call_id) is None or call_id in self._used_ids:
            call_id = f"call_{uuid4().hex[:12]}"
        self._used_ids.add(call_id)
        return call_id

    def _batches(self) -> Iterator[Sequence[_Call]]:
        """Runs of calls that may overlap; a call that may not is a batch of its own."""
        for parallel, calls in groupby(self._calls, key=lambda call: call.parallel):
            if parallel:
                yield list(calls)
            else:
                yield from ([call] for call in calls)

    def _check(self, call: _Call) -> Verdict:
        verdict = self._guard.before(signature(call.name, call.arguments))
        if verdict is not Verdict.RUN:
            call.problem = REFUSAL
        return verdict

    def _announce(self, call: _Call, turn_id: str) -> None:
        self._bus.publish(
            self._chat.chat_id,
            ToolCall(
                turn_id=turn_id,
                call_id=call.id,
                tool_name=call.name,
                arguments=self._redactor.value(call.arguments),
                risk=call.risk,
                stream_id=self._speech.stream_id,
            ),
        )

    async def _answer(self, call: _Call, turn_id: str) -> None:
        started = time.monotonic()
        outcome = await self._outcome(call, turn_id)
        call.duration_sec = round(time.monotonic() - started, 4)
        if call.problem != REFUSAL:
            changes = call.risk in ("write", "execute") and outcome.ok
            text = self._guard.after(signature(call.name, call.arguments), outcome.text, changes=changes)
            outcome = ToolOutcome(outcome.ok, text, outcome.preview, outcome.truncated, outcome.spill)
        self._finish(call, outcome, turn_id)

    async def _outcome(self, call: _Call, turn_id: str) -> ToolOutcome:
        if call.problem is not None:
            return ToolOutcome(False, call.problem, preview=call.problem[:2000])
        context = CallContext(
            chat_id=self._chat.chat_id,
            turn_id=turn_id,
            call_id=call.id,
            workspace=self._workspace,
            results=self._chat.results,
        )
        call.started = True
        try:
            return await self._tools.call(call.name, call.arguments, context)
        except ToolProblem as problem:
            text = problem.text
        except CashCodeError as error:
            text = error.detail
        except Exception as error:  # a tool may fail in any way; the turn goes on and the model is told
            LOG.exception("tool.crashed", extra={"fields": {"tool": call.name}})
            text = CRASHED.format(kind=type(error).__name__)
        return ToolOutcome(False, text, preview=text[:2000])

    def _finish(self, call: _Call, outcome: ToolOutcome, turn_id: str) -> None:
        call.outcome = outcome
        self._bus.publish(
            self._chat.chat_id,
            ToolResult(
                turn_id=turn_id,
                call_id=call.id,
                tool_name=call.name,
                ok=outcome.ok,
                result=outcome.preview,
                truncated=outcome.truncated,
                spill=outcome.spill,
                duration_sec=call.duration_sec,
                stream_id=self._speech.stream_id,
            ),
        )
        logs.event(
            LOG, logging.INFO, "tool.finished", tool=call.name, ok=outcome.ok, duration_sec=call.duration_sec
        )

    def _record(self, call: _Call, turn_id: str) -> None:
        assert call.outcome is not None
        self._chat.append_result(
            call.id,
            call.name,
            call.outcome.text,
            turn_id=turn_id,
            ok=call.outcome.ok,
            duration_sec=call.duration_sec,
            spill=call.outcome.spill,
            risk=call.risk,
        )
        call.recorded = True


def _as_object(arguments: str) -> dict[str, Any]:
    """Unreadable arguments as they are kept in the history: an object that holds the text."""
    try:
        value = read_json(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"unparsed": arguments[:4000]}
