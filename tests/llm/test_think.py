from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cashcode_jupyter.llm.think import ThinkSplitter


def split(*pieces: str, assume_open: bool = False, whole: bool = True) -> tuple[str, str]:
    reasoning: list[str] = []
    text: list[str] = []
    splitter = ThinkSplitter(text.append, reasoning.append, assume_open=assume_open)
    for piece in pieces:
        splitter.feed(piece)
    splitter.flush(whole=whole)
    return "".join(reasoning), "".join(text)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("Hello", "", "Hello"),
        ("<think>why</think>Because.", "why", "Because."),
        ("\n<think>\nwhy\n</think>\n\nBecause.", "why\n", "Because."),
        ("<think>a</think><think>b</think>c", "ab", "c"),
        ("<think></think>\n\nHello", "", "Hello"),
        ("<think>never closed", "never closed", ""),
        ("no <think>tag</think> here", "", "no <think>tag here"),
        ("write `</think>` to close", "", "write `</think>` to close"),
        ("  indented", "", "  indented"),
        (" \n ", "", " \n "),
        ("a < b and <th", "", "a < b and <th"),
        ("<thi", "", "<thi"),
        ("<think>a</thin", "a</thin", ""),
    ],
)
def test_reasoning_and_answer_are_told_apart(text: str, reasoning: str, answer: str) -> None:
    assert split(text) == (reasoning, answer)


def test_a_closing_tag_alone_is_taken_out_and_reported() -> None:
    text: list[str] = []
    splitter = ThinkSplitter(text.append, lambda _text: None)
    for piece in ("It is easy.", "</thi", "nk>", "Yes."):
        splitter.feed(piece)
    splitter.flush()
    assert "".join(text) == "It is easy.Yes."
    assert splitter.lone_close


def test_a_model_whose_template_opens_the_thinking_begins_with_reasoning() -> None:
    assert split("It is easy.</think>\n\nYes.", assume_open=True) == ("It is easy.", "Yes.")
    assert split("<think>It is easy.</think>Yes.", assume_open=True) == ("It is easy.", "Yes.")


def test_assumed_reasoning_that_never_ends_is_the_answer() -> None:
    assert split("Just an answer.", assume_open=True) == ("Just an answer.", "Just an answer.")


def test_assumed_reasoning_that_was_cut_stays_reasoning() -> None:
    assert split("Let me see", assume_open=True, whole=False) == ("Let me see", "")


def test_text_begins_as_answer_when_reasoning_has_a_field_of_its_own() -> None:
    text: list[str] = []
    splitter = ThinkSplitter(text.append, lambda _text: None, assume_open=True)
    splitter.reasoning_is_separate()
    splitter.feed("Yes.")
    assert text == ["Yes."]


def test_plain_text_is_not_held_back() -> None:
    text: list[str] = []
    splitter = ThinkSplitter(text.append, lambda _text: None)
    splitter.feed("Hel")
    splitter.feed("lo")
    assert text == ["Hel", "lo"]


PIECES = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<", "think", "</", ">", "a", "`", " ", "\n", "word", "</thin", "<thi"]
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.booleans(), st.data())
@example("<think>a</think>b", False, None)
def test_any_cut_of_the_same_text_gives_the_same_parts(text: str, assume: bool, data: st.DataObject | None) -> None:
    expected = split(text, assume_open=assume)
    assert split(*text, assume_open=assume) == expected
    if data:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert split(*pieces, assume_open=assume) == expected
