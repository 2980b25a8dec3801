from __future__ import annotations

from collections.abc import Callable

import pytest

from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, UnknownTool
from cashcode_jupyter.tools.functions import FunctionToolset, Tool, tool
from cashcode_jupyter.tools.registry import CombinedToolset


class Nothing(Arguments):
    pass


def named(name: str, answer: str = "") -> Tool:
    async def run(given: Nothing, ctx: CallContext) -> str:
        return answer or name

    return tool(name, "d", Nothing, run)


async def test_each_name_reaches_its_own_toolset(context: Callable[..., CallContext]) -> None:
    tools = CombinedToolset([FunctionToolset([named("read_file")]), FunctionToolset([named("grep")])])
    assert [spec.name for spec in tools.specs()] == ["read_file", "grep"]
    assert (await tools.call("grep", {}, context())).text == "grep"


async def test_a_later_toolset_cannot_take_over_a_name(context: Callable[..., CallContext]) -> None:
    tools = CombinedToolset([FunctionToolset([named("exec", "ours")]), FunctionToolset([named("exec", "theirs")])])
    assert len(tools.specs()) == 1
    assert (await tools.call("exec", {}, context())).text == "ours"


async def test_an_unknown_name_is_answered_with_the_closest_three(context: Callable[..., CallContext]) -> None:
    names = ["read_file", "write_file", "edit_file", "list_dir", "save_memory", "grep"]
    tools = CombinedToolset([FunctionToolset([named(name) for name in names])])
    with pytest.raises(UnknownTool) as raised:
        await tools.call("ReadFile", {}, context())
    assert len(raised.value.closest) == 3
    assert raised.value.closest[0] == "read_file"
    assert "Did you mean read_file, " in raised.value.text


async def test_a_name_like_no_other_gets_no_suggestion(context: Callable[..., CallContext]) -> None:
    with pytest.raises(UnknownTool) as raised:
        await CombinedToolset([FunctionToolset([named("grep")])]).call("x" * 10_000, {}, context())
    assert raised.value.closest == ()
    assert len(raised.value.text) < 300


def test_only_read_tools_run_beside_others_unless_they_say_so() -> None:
    assert named("a").spec.parallel is True

    async def run(given: Nothing, ctx: CallContext) -> str:
        return ""

    assert tool("b", "d", Nothing, run, risk="execute").spec.parallel is False


def test_a_schema_is_the_entry_of_the_openai_list() -> None:
    parameters = {"additionalProperties": False, "properties": {}, "type": "object"}
    assert named("a").spec.schema() == {
        "type": "function",
        "function": {"name": "a", "description": "d", "parameters": parameters},
    }
