from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.protocol.chat_names import chat_id
from cashcode_jupyter.protocol.errors import BadSetting


@given(st.text(min_size=1).filter(str.strip))
def test_every_name_becomes_a_valid_chat_id_and_always_the_same(name: str):
    assert valid_chat_id(chat_id(name))
    assert chat_id(name) == chat_id(name)


@given(st.from_regex(r"[A-Za-z0-9_:-]{1,64}", fullmatch=True))
def test_a_valid_chat_id_is_its_own_name(name: str):
    assert chat_id(name) == name


def test_other_names_stay_readable_and_apart():
    assert chat_id("Q1 sales").startswith("q1-sales-")
    assert len({chat_id(name) for name in ("Q1 sales", "q1 sales", "Q1  sales", "Q1/sales")}) == 4
    assert valid_chat_id(chat_id("数据分析"))


def test_a_blank_name_is_an_error():
    with pytest.raises(BadSetting):
        chat_id("  ")
