from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import Field

from cashcode_jupyter.tools.arguments import ArgumentProblem, Arguments, canonical, parse_arguments, schema_of
from cashcode_jupyter.tools.base import ToolSpec


class Write(Arguments):
    path: str
    content: str = ""
    limit: int = Field(5, ge=1, description="How many")
    tags: list[str] = Field(default=[])


OURS = ToolSpec("write", "d", schema_of(Write), "write", arguments=Write)
FOREIGN = ToolSpec("write", "d", OURS.parameters, "write")
OPTIONAL = ToolSpec("all_optional", "d", {"type": "object", "properties": {"a": {"type": "string"}}}, "write")
SPECS = st.sampled_from([OURS, FOREIGN, OPTIONAL])


@pytest.mark.parametrize("spec", [OURS, FOREIGN], ids=["pydantic", "json schema"])
@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a"}',
        '{"path": "a",}',
        '{"path": "a"',
        '{"path": "a"}}',
        ' {"path": "a"} \n',
        "{'path': 'a'}",
        '```json\n{"path": "a"}\n```',
        '"{\\"path\\": \\"a\\"}"',
    ],
)
def test_punctuation_is_repaired_when_the_value_then_fits(text: str, spec: ToolSpec) -> None:
    assert parse_arguments(text, spec) == {"path": "a"}


def test_nested_brackets_are_closed() -> None:
    assert parse_arguments('{"path": "a", "tags": ["x", "y",', FOREIGN) == {"path": "a", "tags": ["x", "y"]}


def test_a_line_end_within_a_string_is_taken_as_it_is() -> None:
    assert parse_arguments('{"path": "a\nb"}', OURS) == {"path": "a\nb"}


def test_python_words_and_nulls_mean_what_they_say() -> None:
    assert parse_arguments("{'path': 'it\\'s', 'limit': None}", OURS) == {"path": "it's"}


@pytest.mark.parametrize("spec", [OURS, FOREIGN, OPTIONAL], ids=["pydantic", "json schema", "optional"])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "{",
            "{,}",
            "[",
            "}",
            "{{}}",
            "```",
            "{'",
            "()",
            "set()",
            "not json",
            "<a>1</a>",
            '{"path": "cut in a str',
        ),
        *(
            "{'a': 'C:\\dir'}",
            '{"a": "x"}{"a": "y"}',
            '{"a": NaN}',
            '{"a": [1}',
            "[" * 100_000,
            '{"a":' * 100_000,
            "['a']",
            "7",
            '"x"',
        ),
    ],
)
def test_broken_text_is_a_problem_and_never_empty_arguments(text: str, spec: ToolSpec) -> None:
    with pytest.raises(ArgumentProblem):
        parse_arguments(text, spec)


def test_a_cut_string_is_not_closed_because_its_content_is_unknown() -> None:
    with pytest.raises(ArgumentProblem, match="not valid JSON"):
        parse_arguments('{"path": "a", "content": "half of a', OURS)


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}"])
def test_no_arguments_are_fine_only_where_none_are_needed(text: str) -> None:
    assert parse_arguments(text, OPTIONAL) == {}
    for spec in (OURS, FOREIGN):
        with pytest.raises(ArgumentProblem, match="path"):
            parse_arguments(text, spec)


@pytest.mark.parametrize("spec", [OURS, FOREIGN], ids=["pydantic", "json schema"])
def test_a_problem_names_the_argument_and_what_is_expected(spec: ToolSpec) -> None:
    with pytest.raises(ArgumentProblem) as raised:
        parse_arguments('{"path": "a", "limit": 0}', spec)
    assert "limit" in raised.value.text
    assert "{path: string, content?: string, limit?: integer, tags?: array}" in raised.value.text
    with pytest.raises(ArgumentProblem, match="wrong_one"):
        parse_arguments('{"path": "a", "wrong_one": 1}', spec)


@given(st.text(alphabet="{}[]\",:'abpth \\\n1tTrueNnull", max_size=40), SPECS)
def test_whatever_comes_back_fits_the_schema(text: str, spec: ToolSpec) -> None:
    try:
        value = parse_arguments(text, spec)
    except ArgumentProblem:
        return
    Draft202012Validator(spec.parameters).validate(value)
    assert value or text.strip() in ("", "null") or json.loads(text, strict=False) in ({}, "{}", "null")


@given(
    st.fixed_dictionaries(
        {"path": st.text(st.characters(exclude_categories=["Cs"]))},
        optional={"limit": st.integers(1, 9), "tags": st.lists(st.text(st.characters(exclude_categories=["Cs"])))},
    ),
    st.integers(0, 400),
    SPECS,
)
def test_arguments_cut_anywhere_are_whole_or_a_problem_or_closed_between_values(
    value, cut: int, spec: ToolSpec
) -> None:
    text = json.dumps(value, ensure_ascii=False)[:cut]
    try:
        got = parse_arguments(text, spec)
    except ArgumentProblem:
        return
    if not text:
        assert got == {}
        return
    for name, item in got.items():
        assert (
            item == value[name] or (isinstance(item, list) and item == value[name][: len(item)]) or name == "limit"
        )


def test_a_schema_has_no_titles_and_allows_nothing_else() -> None:
    schema = schema_of(Write)
    assert schema["additionalProperties"] is False
    assert "title" not in json.dumps(schema)
    assert schema["properties"]["limit"] == {
        "default": 5,
        "description": "How many",
        "minimum": 1,
        "type": "integer",
    }


def test_a_foreign_schema_with_a_remote_reference_is_refused_without_the_network() -> None:
    spec = ToolSpec("x", "d", {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}})
    with pytest.raises(ArgumentProblem, match="schema"):
        parse_arguments('{"a": 1}', spec)


def test_a_broken_foreign_schema_is_a_problem_too() -> None:
    with pytest.raises(ArgumentProblem, match="schema"):
        parse_arguments('{"a": 1}', ToolSpec("x", "d", {"type": 7}))


def test_equal_arguments_have_one_canonical_spelling() -> None:
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1}) == '{"a":"\\u00e9","b":1}'


def test_importing_the_module_does_not_load_jsonschema() -> None:
    import subprocess

    code = "import sys, cashcode_jupyter.tools.arguments; sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("spec", [OURS, OPTIONAL], ids=["pydantic", "json schema"])
@pytest.mark.parametrize("depth", [101, 400, 970, 100_000])
def test_a_value_nested_too_deep_is_a_problem_for_the_model(depth: int, spec: ToolSpec) -> None:
    with pytest.raises(ArgumentProblem):
        parse_arguments('{"path": ' + "[" * depth + "]" * depth + "}", spec)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_json_cannot_carry_is_a_problem_for_the_model(number: str) -> None:
    with pytest.raises(ArgumentProblem):
        parse_arguments('{"x": ' + number + "}", OPTIONAL)
