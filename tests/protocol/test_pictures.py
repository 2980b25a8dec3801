"""Pictures that come with a message, honest and hostile."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.protocol.actions import parse_metadata
from cashcode_jupyter.protocol.errors import BadMetadata
from cashcode_jupyter.protocol.pictures import (
    FILE_NAME,
    MAX_PICTURE_BYTES,
    MIME_TYPES,
    mime_of,
    read_picture,
    suffix_of,
)

HEADS = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpeg": b"\xff\xd8\xff\xe0",
    "webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
    "gif": b"GIF89a",
}


def data_url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def image(**fields: object) -> dict:
    return {"kind": "image", "label": "plot.png", "text": "", **fields}


def problem(value: object) -> str:
    with pytest.raises(BadMetadata) as refused:
        parse_metadata({"context": value})
    return refused.value.detail


@given(st.sampled_from(sorted(HEADS)), st.binary(max_size=200))
def test_a_picture_of_each_type_comes_through_byte_for_byte(kind, rest):
    picture = read_picture(data_url(kind, HEADS[kind] + rest))
    assert picture.data == HEADS[kind] + rest
    assert FILE_NAME.fullmatch(picture.file) and mime_of(picture.file) == f"image/{kind}"


@given(st.sampled_from(sorted(HEADS)), st.sampled_from(sorted(HEADS)))
def test_a_type_that_the_bytes_do_not_have_is_refused(declared, real):
    if declared != real:
        assert "bytes are not of this type" in problem([image(data_url=data_url(declared, HEADS[real]))])


PNG = data_url("png", HEADS["png"])


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "must begin with data:"),
        ("https://example.org/a.png", "must begin with data:"),
        ("file:///etc/passwd", "must begin with data:"),
        (" " + PNG, "must begin with data:"),
        ("data:image/svg+xml;base64,PHN2Zz4=", "must begin with data:"),
        ("data:text/html;base64,PGI+", "must begin with data:"),
        ("data:image/png,abc", "must begin with data:"),
        ("data:image/png;charset=x;base64,AAAA", "must begin with data:"),
        ("data:image/png;base64,", "bytes are not of this type"),
        ("data:image/png;base64,@@@@", "not valid base64"),
        (PNG + "\n", "not valid base64"),
        (PNG + "漢", "not valid base64"),
        (PNG[:-1], "not valid base64"),
        (PNG + "\ud800", "not valid base64"),
        ("data:image/png;base64," + "A" * (2 * MAX_PICTURE_BYTES), "at most"),
        (data_url("png", HEADS["png"] + b"x" * (MAX_PICTURE_BYTES - 7)), "at most"),
    ],
)
def test_what_is_no_picture_is_refused_with_a_sentence(url, sentence):
    assert sentence in problem([image(data_url=url)])


def test_the_largest_picture_is_taken():
    largest = HEADS["png"].ljust(MAX_PICTURE_BYTES, b"x")
    assert read_picture(data_url("png", largest)).data == largest


def test_eight_pictures_are_taken_and_nine_are_not():
    assert len(parse_metadata({"context": [image(data_url=PNG)] * 8}).context) == 8
    assert problem([image(data_url=PNG)] * 9) == "at most 8 pictures are allowed"


@pytest.mark.parametrize(
    "file", ["../../secret.png", "a.png", "/etc/passwd", f"{'0' * 64}.exe", f"{'0' * 64}.png\n"]
)
def test_a_file_is_named_only_as_a_receipt_names_it(file):
    assert problem([image(file=file)]) == "context.file is invalid"


def test_an_image_needs_a_picture():
    assert problem([image()]) == "context.data_url is missing"
    assert problem([image(data_url=3)]).startswith("context.data_url")


@given(st.binary(max_size=20))
def test_any_bytes_have_a_known_type_or_none(data):
    assert suffix_of(data) is None or suffix_of(data) in MIME_TYPES


def test_what_is_no_picture_brings_none():
    [cell] = parse_metadata(
        {"context": [{"kind": "cell", "text": "x", "data_url": "y" * 9999, "file": "z"}]}
    ).context
    assert cell.data_url is None and cell.file is None
