from __future__ import annotations

import re

import pytest

from cashcode_jupyter.testing.answers import Answers
from cashcode_jupyter.testing.directive import DirectiveError


def text_of(answers: Answers, asked: str) -> str | None:
    rule = answers.rule_for(asked)
    return None if rule is None else rule.text


def test_a_rule_fits_by_substring_whatever_the_case() -> None:
    assert text_of(Answers({"CAPITAL of France": "Paris."}), "What is the capital of france?") == "Paris."


def test_a_rule_fits_by_regular_expression() -> None:
    assert text_of(Answers({r"\bsum\b.*\d+": "42"}), "the sum of 40 and 2") == "42"


def test_a_rule_with_signs_of_regular_expressions_fits_as_plain_text() -> None:
    assert text_of(Answers({"2+2?": "4"}), "what is 2+2?") == "4"


def test_a_rule_that_is_no_regular_expression_is_plain_text() -> None:
    answers = Answers({"f(x": "a function"})
    assert text_of(answers, "what is f(x)?") == "a function"
    assert text_of(answers, "fx") is None


def test_a_compiled_expression_keeps_its_flags() -> None:
    answers = Answers({re.compile("Now"): "yes"})
    assert text_of(answers, "Now!") == "yes"
    assert text_of(answers, "now!") is None


def test_the_first_rule_that_fits_answers() -> None:
    assert text_of(Answers({"cat": "one", "cats": "two"}), "cats") == "one"


def test_a_rule_may_answer_by_a_directive() -> None:
    rule = Answers({"list": "[[mock:tools,tool=list_dir,say=Here they are.]]"}).rule_for("list the files")
    assert rule is not None
    assert (rule.kind, rule.tool, rule.text) == ("tools", "list_dir", "Here they are.")


def test_a_wrong_directive_in_a_rule_is_refused_at_once() -> None:
    with pytest.raises(DirectiveError, match="'poem'"):
        Answers({"x": "[[mock:poem]]"})


def test_the_default_repeats_two_hundred_characters() -> None:
    answers = Answers()
    assert answers.default_for("Hello there").text == "You said: Hello there"
    assert answers.default_for("x" * 201).text == f"You said: {'x' * 200}…"
    assert answers.default_for("  ").text == "You said nothing."


def test_the_default_can_be_given() -> None:
    assert Answers(default="Hm.").default_for("Hello").text == "Hm."
