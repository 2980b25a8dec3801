from __future__ import annotations

import pytest

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.model import ScriptedModel
from tests.kernel.conftest import Kernel


@pytest.fixture(autouse=True)
def imported(kernel: Kernel) -> None:
    kernel.run("import asyncio, time\nimport cashcode_jupyter as cashcode")


def test_ask_returns_an_answer_that_shows_as_markdown(kernel: Kernel):
    ran = kernel.run(f"answer = cashcode.ask({directive(say='**Four**.')!r})\nanswer")
    [result] = ran.of("execute_result")
    assert result["data"]["text/markdown"] == result["data"]["text/plain"] == "**Four**."
    assert ran.kinds == ["execute_result"]
    assert kernel.value("(answer.text, answer.tool_calls, answer.stop_reason)") == ("**Four**.", (), "answered")
    assert kernel.value("answer.usage['completion_tokens'] > 0 and bool(answer.chat_id)") is True


def test_ask_works_where_an_event_loop_runs(kernel: Kernel):
    source = f"async def inner():\n    return cashcode.ask({directive(say='inside')!r}).text\ntext = await inner()"
    assert not kernel.run(source).of("error")
    assert kernel.value("text") == "inside"


def test_aask_leaves_the_loop_of_the_kernel_free(kernel: Kernel):
    source = f"""
beats = []
async def beat():
    while True:
        beats.append(time.monotonic())
        await asyncio.sleep(0.01)
task = asyncio.create_task(beat())
prompt = {directive(say="ok", first_ms=400)!r}
answers = await asyncio.gather(*(cashcode.aask(prompt, chat=f"c{{number}}") for number in range(3)))
task.cancel()
"""
    assert not kernel.run(source).of("error")
    assert kernel.value("[answer.text for answer in answers]") == ["ok", "ok", "ok"]
    assert kernel.value("max(b - a for a, b in zip(beats, beats[1:])) < 0.25") is True


def test_a_cancelled_aask_stops_its_turn(kernel: Kernel, scripted_model: ScriptedModel):
    source = f"""
try:
    async with asyncio.timeout(0.5):
        await cashcode.aask({directive(first_ms=20_000)!r})
except TimeoutError:
    late = True
"""
    kernel.run("cashcode.ask('warm up')")
    scripted_model.clear()
    kernel.run(source)
    assert kernel.value("late") is True
    assert scripted_model.wait_for(lambda model: model.aborted == 1)


def test_a_chat_object_is_one_conversation(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("chat = cashcode.Chat('Sales 2024')\nchat.ask('one')\nawait chat.aask('two')")
    assert len(scripted_model.requests[-1].body["messages"]) == 4
    assert kernel.value("chat.chat_id == cashcode.Chat('Sales 2024').chat_id") is True
    assert kernel.value("cashcode.Chat().chat_id != cashcode.Chat().chat_id") is True


def test_tool_steps_are_in_the_answer(kernel: Kernel):
    prompt = directive("tools", tool="list_dir", say="done")
    kernel.run(f"answer = cashcode.ask({prompt!r})")
    assert kernel.value("[(step.tool_name, step.ok) for step in answer.tool_calls]") == [("list_dir", True)]


def test_a_model_and_variables_can_be_given(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("rows = list(range(7))")
    kernel.run("cashcode.ask('look', model='openai_compatible:special', variables=['rows'], context='above')")
    assert scripted_model.requests[-1].body["model"] == "special"
    assert "length: 7" in scripted_model.requests[-1].body["messages"][-1]["content"]


def test_two_questions_to_one_chat_are_answered_in_order(kernel: Kernel):
    first, second = directive(say="first", first_ms=300), directive(say="second")
    kernel.run(f"answers = await asyncio.gather(cashcode.aask({first!r}), cashcode.aask({second!r}))")
    assert kernel.value("[answer.text for answer in answers]") == ["first", "second"]
