from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.testing import directive, script
from cashcode_jupyter.testing.directive import DIRECTIVE, DirectiveError, parse


def spec_of(text: str) -> str:
    found = DIRECTIVE.fullmatch(text)
    assert found is not None
    return found.group(1)


def test_every_parameter_of_the_older_mock_is_read() -> None:
    read = parse(
        "tools,rounds=10,tool=noop,arg.n=1,chunks=2,delay_ms=1.5,size=8,first_ms=3,burst=4,split=2,final_tool=end"
    )
    assert (read.kind, read.rounds, read.tool, read.chunks, read.delay_ms) == ("tools", 10, "noop", 2, 1.5)
    assert (read.size, read.first_ms, read.burst, read.split, read.final_tool) == (8, 3, 4, 2, "end")
    assert read.arguments(0, 0) == '{"n": 1}'


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("poem", "'poem'"),
        ("text,chunk=5", "'chunk'"),
        ("text,chunks=many", "chunks='many'"),
        ("text,chunks=-1", "chunks='-1'"),
        ("text,chunks=1000000,size=1000000", "chunks x size"),
        ("text,delay_ms=nan", "delay_ms='nan'"),
        ("text,delay_ms=-1", "delay_ms='-1'"),
        ("text,fault=teapot", "fault='teapot'"),
        ("text,text64=?", "text64"),
        ("text,text64=/w==", "text64"),
        ("tools,calls=e30=", "calls"),
        ("tools,calls=W1sxXV0=", "calls"),
        ("text,loose", "'loose'"),
    ],
)
def test_a_mistake_is_named(spec: str, names: str) -> None:
    with pytest.raises(DirectiveError) as caught:
        parse(spec)
    assert names in str(caught.value)


@given(st.text())
def test_whatever_is_written_it_is_read_or_refused(spec: str) -> None:
    try:
        parse(spec)
    except DirectiveError as error:
        assert str(error)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_survives_the_directive(text: str) -> None:
    assert parse(spec_of(directive(text=text))).text == text
    encoded = base64.urlsafe_b64encode(text.encode()).decode()
    assert parse(f"text64={encoded}").text == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=5,
)


@given(JSON.filter(lambda value: "{round}" not in repr(value) and "{call}" not in repr(value)))
def test_any_argument_survives_the_directive(value: object) -> None:
    read = parse(spec_of(directive("tools", args={"key": value})))
    assert json.loads(read.arguments(0, 0)) == {"key": value}


def test_round_and_call_are_filled_in() -> None:
    read = parse('tools,arg.n={round},arg.path=file-{round}-{call}.txt,arg.deep={"n":{call}}')
    assert json.loads(read.arguments(3, 1)) == {"n": 3, "path": "file-3-1.txt", "deep": {"n": 1}}


def test_a_script_keeps_rounds_calls_and_malformed_arguments() -> None:
    read = parse(spec_of(script([[("glob", {"pattern": "*.py"}), ("grep", '{"broken')], [("read_file", {})]])))
    assert read.script is not None
    assert [[(call.name, call.arguments) for call in calls] for calls in read.script] == [
        [("glob", '{"pattern": "*.py"}'), ("grep", '{"broken')],
        [("read_file", "{}")],
    ]


def test_a_wrong_directive_is_not_written() -> None:
    with pytest.raises(DirectiveError, match="'chunk'"):
        directive(chunk=5)
