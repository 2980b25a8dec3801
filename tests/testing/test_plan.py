from __future__ import annotations

from typing import Any

from cashcode_jupyter.testing.answers import Answers
from cashcode_jupyter.testing.plan import Plan, plan

CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "ok"}
SAID = {"role": "assistant", "content": "Well."}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def planned(*messages: dict[str, Any], model: str = "m", answers: Answers | None = None) -> Plan:
    return plan({"model": model, "messages": list(messages)}, answers or Answers())


def test_the_last_user_message_with_a_directive_holds() -> None:
    found = planned(user("[[mock:text,say=one]]"), SAID, user("[[mock:text,say=two]]"))
    assert found.directive.text == "two"


def test_a_user_message_put_into_the_turn_does_not_end_the_script() -> None:
    found = planned(user("[[mock:tools,rounds=3]]"), CALLED, RESULT, user("hurry up"), CALLED, RESULT)
    assert (found.directive.rounds, found.round) == (3, 2)


def test_a_directive_may_stand_in_a_list_of_parts() -> None:
    found = planned(user([{"type": "text", "text": "look: [[mock:text,say=parts]]"}]))
    assert found.directive.text == "parts"


def test_a_rule_for_the_last_message_wins_over_an_older_directive() -> None:
    answers = Answers({"capital": "Paris."})
    found = planned(user("[[mock:text,say=one]]"), SAID, user("the capital?"), answers=answers)
    assert found.directive.text == "Paris."


def test_a_directive_wins_over_a_rule_and_over_the_model_name() -> None:
    answers = Answers({"capital": "Paris."})
    found = planned(user("capital [[mock:text,say=Rome]]"), model="mock:text,say=Oslo", answers=answers)
    assert found.directive.text == "Rome"


def test_the_name_of_the_model_can_be_the_directive() -> None:
    assert planned(user("hi"), model="mock:tools,rounds=2").directive.rounds == 2
    assert planned(user("hi"), model="mock:say=Hello").directive.text == "Hello"


def test_a_tag_is_no_directive() -> None:
    assert planned(user("hi"), model="mock:latest").directive.text == "You said: hi"


def test_only_assistant_messages_with_calls_count_as_rounds() -> None:
    assert planned(user("[[mock:tools]]"), SAID, CALLED, RESULT).round == 1
    assert planned(user("[[mock:tools,count=assistant]]"), SAID, CALLED, RESULT).round == 2


def test_messages_of_any_shape_are_survived() -> None:
    strange: list[Any] = [None, 3, "x", {"role": "user"}, {"role": "user", "content": [None, {"text": 4}]}]
    assert plan({"messages": strange}, Answers()).directive.text == "You said nothing."
