from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.llm.textual_calls import TextualCalls

CALL = '<tool_call>\n{"name": "glob", "arguments": {"pattern": "*"}}\n</tool_call>'


def read(*pieces: str, native: bool = False, whole: bool = True) -> tuple[str, list[tuple[str, str]]]:
    text: list[str] = []
    reader = TextualCalls(text.append, {"glob", "read_file"})
    for piece in pieces:
        reader.feed(piece)
    calls = reader.flush(native=native, whole=whole)
    return "".join(text), calls


def test_a_call_is_taken_out_of_the_text() -> None:
    assert read("Let me look.\n" + CALL) == ("Let me look.\n", [("glob", '{"pattern": "*"}')])


def test_several_calls_are_several_calls() -> None:
    assert read(CALL + "\n" + CALL) == ("", [("glob", '{"pattern": "*"}')] * 2)


def test_the_closing_tag_may_be_missing_at_the_end() -> None:
    assert read(CALL.removesuffix("</tool_call>"))[1] == [("glob", '{"pattern": "*"}')]


def test_a_cut_call_is_text_and_no_call() -> None:
    cut = CALL.removesuffix("</tool_call>")
    assert read(cut, whole=False) == (cut, [])


@pytest.mark.parametrize(
    "body", ['{"name": "rm", "arguments": {}}', "not json", '["glob"]', '{"arguments": {}}', '{"name": ["glob"]}']
)
def test_what_is_no_call_of_a_known_tool_stays_text(body: str) -> None:
    text = f"<tool_call>{body}</tool_call> done"
    assert read(text) == (text, [])


def test_arguments_may_be_a_text_or_missing_or_called_parameters() -> None:
    assert read('<tool_call>{"name": "glob", "arguments": "{\\"a\\": 1}"}</tool_call>')[1] == [("glob", '{"a": 1}')]
    assert read('<tool_call>{"name": "glob"}</tool_call>')[1] == [("glob", "{}")]
    assert read('<tool_call>{"name": "glob", "parameters": {"a": 1}}</tool_call>')[1] == [("glob", '{"a": 1}')]


def test_a_native_call_makes_the_written_one_text_again() -> None:
    assert read(CALL, native=True) == (CALL, [])


def test_text_between_and_after_calls_is_kept() -> None:
    assert read(CALL + " and " + CALL + " then") == (" and  then", [("glob", '{"pattern": "*"}')] * 2)


@given(
    st.lists(
        st.sampled_from([CALL, "<tool_call>", "</tool_call>", "a", "\n", " ", "<", "<tool", "{}"]), max_size=6
    ),
    st.booleans(),
    st.data(),
)
def test_any_cut_of_the_same_text_gives_the_same_calls(parts: list[str], native: bool, data: st.DataObject) -> None:
    text = "".join(parts)
    expected = read(text, native=native)
    assert read(*text, native=native) == expected
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    assert (
        read(*(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)), native=native) == expected
    )
