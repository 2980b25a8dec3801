"""A call that fails for a reason which is not the tool's says the reason, to the person and to the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.protocol.errors import StorageError
from cashcode_jupyter.testing.fixtures import CashcodeHome
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, Toolset, ToolSpec
from tests.agent.conftest import Door
from tests.agent.test_turn import calls, results

SENTENCE = "The disk is full. Free some space and try again."
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


class Failing(Toolset):
    """`full` meets a full disk, `broken` has a defect."""

    def specs(self) -> Sequence[ToolSpec]:
        return ToolSpec("full", "Meet a full disk.", SCHEMA), ToolSpec("broken", "Fail.", SCHEMA)

    async def call(self, name: str, arguments: dict[str, Any], ctx: CallContext) -> ToolOutcome:
        raise StorageError(SENTENCE) if name == "full" else RuntimeError("private details")


async def ask(content: str) -> list[dict]:
    core = CashCode(Settings.load(), console=False, tools=Failing())
    await core.start()
    try:
        return await Door(core.connect()).ask(content)
    finally:
        await core.stop()


async def test_a_full_disk_is_said_in_its_own_words_and_not_called_a_defect_of_the_tool(
    cashcode_home: CashcodeHome,
):
    events = await ask(calls([("full", {})]))
    [result] = results(events)
    assert not result["ok"] and result["result"] == SENTENCE
    assert cashcode_home.model.requests[-1].body["messages"][-1]["content"] == SENTENCE
    assert events[-1]["event"] == "done"


async def test_a_defect_of_a_tool_is_told_by_its_kind_alone_and_the_turn_goes_on(cashcode_home: CashcodeHome):
    events = await ask(calls([("broken", {})]))
    [result] = results(events)
    assert "RuntimeError" in result["result"] and "private details" not in result["result"]
    assert events[-1]["event"] == "done"
