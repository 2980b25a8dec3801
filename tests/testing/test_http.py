from __future__ import annotations

import itertools
import json
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.request import BadHttp, Request, RequestReader
from tests.testing.client import ask, open_stream, read_until, send, user

BODY = json.dumps({"model": "m", "messages": [user("[[mock:text,say=Hello]]")]}).encode()
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
SIZED = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n%x;x=y\r\n%b\r\n0\r\n\r\n" % (
    10,
    BODY[:10],
    len(BODY) - 10,
    BODY[10:],
)


def speak(model: ScriptedModel, data: bytes) -> bytes:
    """Everything that the server says until it closes."""
    with socket.create_connection(("127.0.0.1", model.port), timeout=10) as wire:
        wire.sendall(data)
        return read_until(wire, b"\0never")


@given(st.lists(st.integers(0, 300), max_size=8), st.sampled_from([SIZED, CHUNKED]))
def test_requests_are_read_whatever_the_pieces(cuts: list[int], wire: bytes) -> None:
    reader, got = RequestReader(), list[Request]()
    edges = [0, *sorted(cuts), len(wire) * 2]
    for start, end in itertools.pairwise(edges):
        reader.feed((wire + wire)[start:end])
        while (request := reader.take(lambda: None)) is not None:
            got.append(request)
    assert [request.body for request in got] == [BODY, BODY]


@given(st.binary(max_size=200))
def test_bytes_that_are_no_request_are_refused_or_waited_for(data: bytes) -> None:
    reader = RequestReader()
    reader.feed(data)
    try:
        reader.take(lambda: None)
    except BadHttp as error:
        assert error.status in (400, 413, 431)


@pytest.mark.parametrize(
    ("wire", "status"),
    [
        (b"\r\n\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET / HTTP/2\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\ncontent-length: 9999999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", b"400"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcdef\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000, b"431"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"400"),
    ],
)
def test_bad_http_is_answered_and_the_server_goes_on(
    scripted_model: ScriptedModel, wire: bytes, status: bytes
) -> None:
    assert speak(scripted_model, wire).startswith(b"HTTP/1.1 " + status)
    assert ask(scripted_model, "there?").status == 200


def test_a_client_may_ask_for_leave_to_send(scripted_model: ScriptedModel) -> None:
    with socket.create_connection(("127.0.0.1", scripted_model.port), timeout=10) as wire:
        wire.sendall(HEAD + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(BODY))
        assert read_until(wire, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        wire.sendall(BODY)
        assert b'"content":"Hello"' in read_until(wire, b"}}")


def test_requests_sent_ahead_are_answered_in_order(scripted_model: ScriptedModel) -> None:
    other = BODY.replace(b"Hello", b"Later")
    said = speak(
        scripted_model, SIZED + HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(other) + other
    )
    assert said.index(b"Hello") < said.index(b"Later")
    assert scripted_model.connections == 1


def test_an_http_1_0_client_gets_a_body_without_chunks(scripted_model: ScriptedModel) -> None:
    body = json.dumps({"model": "m", "stream": True, "messages": [user("hi")]}).encode()
    said = speak(
        scripted_model, b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    head, _, stream = said.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert stream.startswith(b"data: ") and stream.endswith(b"data: [DONE]\n\n")


def test_unknown_paths_and_methods_are_404(scripted_model: ScriptedModel) -> None:
    assert send(scripted_model, "GET", "/nowhere").status == 404
    assert send(scripted_model, "GET", "/v1/chat/completions").status == 404
    assert send(scripted_model, "DELETE", "/v1/models").status == 404


def test_a_client_that_reads_slowly_does_not_hold_up_another(scripted_model: ScriptedModel) -> None:
    with open_stream(scripted_model, "[[mock:text,chunks=20000,size=1000,burst=10]]"):
        assert ask(scripted_model, "still quick?").text == "You said: still quick?"
        assert not scripted_model.requests[0].finished


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_no_body_brings_it_down(scripted_model: ScriptedModel, body: bytes) -> None:
    assert send(scripted_model, "POST", "/v1/chat/completions", body).status in (200, 400)
