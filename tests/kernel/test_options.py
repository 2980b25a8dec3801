from __future__ import annotations

import pytest

from cashcode_jupyter.kernel.failures import BadOption
from cashcode_jupyter.kernel.options import PROVIDERS, context_choice, model_choice, parse
from cashcode_jupyter.protocol import actions


def test_a_bare_line_asks_for_nothing_special():
    options = parse("")
    assert (options.chat, options.new, options.model, options.context) == (None, False, None, "none")


def test_every_option_is_read():
    options = parse(
        "--chat 'Q1 sales' --model ollama:qwen3:0.6b --skill a --skill b --mcp files --context=3 "
        "--var df --var x --var df --insert --json"
    )
    assert options.chat == "Q1 sales"
    assert options.model == {"provider": "ollama", "model": "qwen3:0.6b"}
    assert (options.skills, options.servers) == (("a", "b"), ("files",))
    assert (options.context, options.variables) == ("3", ("df", "x"))
    assert (options.insert, options.json, options.background) == (True, True, False)


def test_braces_and_dollars_in_a_value_stay_as_they_are():
    assert parse("--chat '{x} $y'").chat == "{x} $y"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--modle x", "--model"),
        ("--chat", "needs a value"),
        ("--chat --new", "needs a value"),
        ("--chat a --chat b", "once"),
        ("--chat a --new", "either"),
        ("--bg --insert", "--bg"),
        ("--chat 'open", "cannot be read"),
        ("what is this", "below"),
        ("--model gpt", "PROVIDER:MODEL"),
        ("--model ollama:", "PROVIDER:MODEL"),
        ("--context some", "none, above, all"),
        ("--context -1", "none, above, all"),
        ("--new=yes", "--new"),
    ],
)
def test_a_wrong_line_is_an_error_that_says_what_to_write(line: str, words: str):
    with pytest.raises(BadOption, match=words) as caught:
        parse(line)
    assert caught.value.code == "bad_setting"


def test_the_providers_are_those_of_the_protocol():
    assert PROVIDERS == actions.PROVIDERS


def test_python_callers_may_give_a_number_of_cells_and_no_model():
    assert (context_choice(2), context_choice(None), model_choice(None)) == ("2", "none", None)
