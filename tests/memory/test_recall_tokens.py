from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.memory.tokens import MAX_TOKEN, document_tokens, query_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The fox", ["the", "fox"]),
        ("getUserByID", ["getuserbyid", "get", "user", "by", "id"]),
        ("HTTPServer2go", ["httpserver2go", "http", "server", "2", "go"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("__init__", ["init"]),
        ("3.14", ["3.14", "3", "14"]),
        ("Straße", ["strasse"]),
        ("ＡＢＣ", ["abc"]),
        ("你好世界", ["你好", "好世", "世界"]),
        ("猫", ["猫"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("用pandas画图", ["用", "pandas", "画图"]),
    ],
)
def test_words_names_numbers_and_cjk_become_these_tokens(text: str, tokens: list[str]):
    assert query_tokens(text) == tokens


def test_a_single_sign_finds_a_text_that_has_it_inside_a_word():
    assert set(query_tokens("猫")) <= set(document_tokens("我喜欢猫咪"))


def test_an_endless_word_is_cut():
    assert all(len(token) <= MAX_TOKEN for token in document_tokens("a1" * 10_000))


@given(st.text())
def test_whatever_is_asked_is_found_in_a_text_with_the_same_words(text: str):
    assert set(query_tokens(text)) <= set(document_tokens(text))


@given(st.text())
def test_composed_and_decomposed_text_have_the_same_tokens(text: str):
    assert document_tokens(unicodedata.normalize("NFKC", text)) == document_tokens(text)


@given(st.text())
def test_no_token_is_empty_or_holds_a_line_end(text: str):
    assert not any(not token or "\n" in token for token in document_tokens(text))


@given(st.from_regex(r"[a-z]+( [a-z]+)*", fullmatch=True))
def test_case_does_not_matter_for_plain_words(text: str):
    assert query_tokens(text.upper()) == query_tokens(text)
