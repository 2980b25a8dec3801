from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.llm.sse import EventDecoder, parse_body


def decode(*blocks: bytes) -> tuple[list[Any], bool, bool]:
    decoder = EventDecoder()
    payloads = [payload for block in blocks for payload in decoder.feed(block)]
    payloads += decoder.flush()
    return payloads, decoder.done, decoder.broken


def whole(stream: bytes) -> list[Any]:
    payloads, _done, broken = decode(stream)
    assert not broken
    return payloads


def test_an_event_becomes_its_payload() -> None:
    assert decode(b'data: {"a":1}\n\ndata: [DONE]\n\n') == ([{"a": 1}], True, False)


def test_lines_may_end_with_crlf_or_cr_alone() -> None:
    assert whole(b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n') == [{"a": 1}, {"b": 2}]
    assert whole(b'data: {"a":1}\r\rdata: {"b":2}\r\r') == [{"a": 1}, {"b": 2}]


def test_the_space_after_data_may_be_missing() -> None:
    assert whole(b'data:{"a":1}\n\n') == [{"a": 1}]


def test_comments_event_names_ids_and_empty_data_are_skipped() -> None:
    assert whole(b': keep-alive\n\nevent: ping\nid: 7\nretry: 10\ndata:\n\ndata: {"a":1}\n\n') == [{"a": 1}]


def test_two_data_lines_without_a_blank_line_are_two_payloads() -> None:
    assert whole(b'data: {"a":1}\ndata: {"b":2}\n\n') == [{"a": 1}, {"b": 2}]


def test_one_event_over_several_data_lines_is_one_payload() -> None:
    assert whole(b'data: {"a":\ndata: 1}\n\ndata: {"b":2}\n\n') == [{"a": 1}, {"b": 2}]


def test_a_raw_line_feed_inside_a_string_is_kept() -> None:
    assert whole(b'data: {"a":"x\ny"}\n\n') == [{"a": "x\ny"}]


def test_a_last_line_without_its_end_counts() -> None:
    assert whole(b'data: {"a":1}') == [{"a": 1}]


def test_an_event_that_is_no_json_breaks_the_stream_after_what_came_before() -> None:
    payloads, done, broken = decode(b'data: {"a":1}\n\ndata: {not json\n\ndata: {"b":2}\n\n')
    assert (payloads, done, broken) == ([{"a": 1}], False, True)


def test_nothing_counts_after_done() -> None:
    assert decode(b'data: [DONE]\n\ndata: {"a":1}\n\n') == ([], True, False)


def test_a_byte_order_mark_is_skipped() -> None:
    assert whole(b'\xef\xbb\xbfdata: {"a":1}\n\n') == [{"a": 1}]


def test_line_separators_of_unicode_end_no_line() -> None:
    text = "one\u2028two\u0085three"
    assert whole(f'data: {{"a":"{text}"}}\n\n'.encode()) == [{"a": text}]


def test_broken_utf8_costs_its_character_only() -> None:
    assert whole(b'data: {"a":"x\xff"}\n\n') == [{"a": "x\ufffd"}]


def test_a_line_without_end_is_given_up_at_its_limit() -> None:
    decoder = EventDecoder()
    for _number in range(17):
        decoder.feed(b"x" * 1024 * 1024)
    assert decoder.broken


def test_json_nested_too_deeply_breaks_the_stream() -> None:
    assert decode(b"data: " + b"[" * 200_000 + b"\n\n")[2]


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
STREAM = st.lists(
    st.one_of(
        TEXT.map(lambda text: b"data: " + json.dumps({"t": text}, ensure_ascii=False).encode() + b"\n\n"),
        st.sampled_from([b": ping\n\n", b"event: x\ndata: {}\n\n", b'data:{"a":1}\ndata: {"b":2}\n\n']),
        st.just(b'data: {"a":\ndata: "x\ndata: y"}\n\n'),
    ),
    max_size=6,
).map(b"".join)


@given(STREAM, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_any_chunking_of_the_same_bytes_gives_the_same_payloads(
    stream: bytes, line_end: bytes, data: st.DataObject
) -> None:
    stream = stream.replace(b"\n", line_end) + b"data: [DONE]" + line_end * 2
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    blocks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(*blocks) == decode(stream)
    assert decode(*(bytes((byte,)) for byte in stream)) == decode(stream)


def test_a_body_is_one_json_value_or_one_a_line() -> None:
    assert parse_body(b' {"a": 1}\n') == [{"a": 1}]
    assert parse_body(b'{"a":1}\n\n{"b":2}\n') == [{"a": 1}, {"b": 2}]
    with pytest.raises(ValueError):
        parse_body(b'{"id": ')
