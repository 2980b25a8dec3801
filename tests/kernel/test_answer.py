from __future__ import annotations

from typing import Any

from cashcode_jupyter.kernel.answer import Answer, Transcript, code


def folded(*events: dict[str, Any]) -> Answer:
    transcript = Transcript("c")
    for event in events:
        transcript.feed(event)
    return transcript.answer()


def call(call_id: str = "1", name: str = "read_file", **arguments: Any) -> dict[str, Any]:
    return {"event": "tool_call", "call_id": call_id, "tool_name": name, "arguments": arguments, "risk": "read"}


def result(call_id: str = "1", *, ok: bool = True, text: str = "fine") -> dict[str, Any]:
    return {"event": "tool_result", "call_id": call_id, "ok": ok, "result": text, "duration_sec": 0.1}


def delta(text: str) -> dict[str, Any]:
    return {"event": "delta", "text": text}


DONE = {"event": "done", "stop_reason": "answered", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


def test_the_text_is_the_deltas_and_nothing_else():
    answer = folded(delta("Let me "), delta("look."), call(), result(), delta("It is 4."), DONE)
    assert answer.text == "Let me look.It is 4."
    assert str(answer) == answer.text
    assert answer.usage["completion_tokens"] == 2
    assert answer.stop_reason == "answered"


def test_a_tool_step_has_its_call_and_its_result():
    [step] = folded(call(path="a.txt"), result(ok=False, text="no such file")).tool_calls
    assert (step.tool_name, step.arguments, step.ok, step.result) == (
        "read_file",
        {"path": "a.txt"},
        False,
        "no such file",
    )


def test_markdown_folds_the_steps_of_a_round_where_they_happened():
    answer = folded(delta("A"), call("1"), call("2", "grep"), result("2"), result("1"), delta("B"), DONE)
    assert answer._repr_markdown_().startswith("A\n\n<details><summary>2 tool calls: read_file, grep</summary>")
    assert answer._repr_markdown_().endswith("</details>\n\nB")
    assert answer._repr_markdown_().count("<details>") == 1


def test_an_answer_without_tools_shows_as_its_text():
    assert folded(delta("# Hi\n\n"), delta("`x`"), DONE)._repr_markdown_() == "# Hi\n\n`x`"


def test_arguments_cannot_leave_their_code_span():
    shown = folded(call(path="``` </details><img src=x>"), result())._repr_markdown_()
    line = next(line for line in shown.splitlines() if line.startswith("- "))
    assert line.startswith("- ```` ")
    assert line.endswith(" ````")


def test_a_tool_name_cannot_carry_markup():
    shown = folded(call(name="<b>x</b>"), result())._repr_markdown_()
    assert "<summary>1 tool call: bxb</summary>" in shown


def test_a_code_span_holds_any_backticks():
    assert code("a") == "`a`"
    assert code("a`b``c") == "``` a`b``c ```"


def test_the_repr_is_one_short_line():
    answer = folded(delta("line\n" * 500), call(), result(), DONE)
    assert len(repr(answer)) < 160
    assert "\n" not in repr(answer)
    assert "1 tool call" in repr(answer)


def test_a_turn_that_did_not_end_is_interrupted():
    assert folded(delta("half")).stop_reason == "interrupted"
