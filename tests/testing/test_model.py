from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading

import pytest

from cashcode_jupyter.testing import ScriptedModel
from tests.testing.client import NOOP, ask, open_stream, post, read_until, send, user


def test_the_urls_say_where_it_listens(scripted_model: ScriptedModel) -> None:
    assert scripted_model.origin == f"http://127.0.0.1:{scripted_model.port}"
    assert scripted_model.url == f"{scripted_model.origin}/v1"


def test_before_the_start_there_is_no_url() -> None:
    with pytest.raises(RuntimeError, match="not running"):
        _ = ScriptedModel().url


def test_it_stops_without_leaving_a_thread_or_a_port() -> None:
    before = set(threading.enumerate())
    model = ScriptedModel().start()
    port = model.port
    ask(model, "hi")
    model.stop()
    model.stop()
    assert set(threading.enumerate()) <= before
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    gc.collect()


def test_it_stops_while_clients_wait() -> None:
    with ScriptedModel() as model:
        wires = [open_stream(model, "[[mock:text,quirk=silent]]") for _ in range(5)]
        assert model.wait_for(lambda m: len(m.requests) == 5)
    for wire in wires:
        with wire:
            assert wire.recv(1) == b""
    assert model.aborted == 0
    gc.collect()


def test_it_can_be_started_again_and_keeps_its_log() -> None:
    model = ScriptedModel()
    for number in (1, 2):
        with model:
            ask(model, "hi")
        assert len(model.requests) == number


def test_two_servers_never_give_the_same_call_id() -> None:
    ids = set()
    for _ in range(2):
        with ScriptedModel() as model:
            ids |= {part["id"] for part in ask(model, "[[mock:tools,calls=2]]", tools=[NOOP]).calls}
    assert len(ids) == 4


def test_a_taken_port_is_an_oserror() -> None:
    with ScriptedModel() as model, pytest.raises(OSError):
        ScriptedModel(port=model.port).start()


def test_a_client_that_leaves_is_counted_at_once(scripted_model: ScriptedModel) -> None:
    wire = open_stream(scripted_model, "[[mock:text,chunks=100,delay_ms=60000]]")
    read_until(wire, b"00000 ")
    wire.close()
    assert scripted_model.wait_for(lambda m: m.aborted == 1)
    record = scripted_model.requests[0]
    assert (record.aborted, record.finished, record.events) == (True, True, 1)


def test_a_client_that_leaves_after_the_end_did_not_abort(scripted_model: ScriptedModel) -> None:
    wire = open_stream(scripted_model, "[[mock:text,chunks=100]]")
    read_until(wire, b"[DONE]")
    wire.close()
    assert scripted_model.wait_for(lambda m: m.open_connections == 0)
    assert scripted_model.aborted == 0


def test_a_record_keeps_the_request(scripted_model: ScriptedModel) -> None:
    post(scripted_model, {"model": "m", "messages": [user("[[mock:text]]")]}, {"Authorization": "Bearer k"})
    # The reader has the last byte a moment before the server notes that it is done.
    assert scripted_model.wait_for(lambda m: m.requests[0].finished)
    record = scripted_model.requests[0]
    assert record.body["messages"] == [user("[[mock:text]]")]
    assert (record.authorized, record.headers["authorization"]) == (True, "Bearer k")
    assert (record.model, record.script, record.round, record.status) == ("m", "text", 0, 200)
    assert record.recv_ns <= record.first_ns <= record.last_ns


def test_the_log_over_http_never_holds_a_key(scripted_model: ScriptedModel) -> None:
    post(scripted_model, {"model": "m", "messages": [user("hi")]}, {"Authorization": "Bearer secret-key"})
    log = send(scripted_model, "GET", "/mock/log")
    assert b"secret-key" not in log.body
    (record,) = log.json
    assert record["authorized"] is True
    assert "authorization" in record["headers"]
    assert record["last_ns"] >= record["first_ns"] >= record["recv_ns"] > 0


def test_the_log_is_emptied_over_http(scripted_model: ScriptedModel) -> None:
    ask(scripted_model, "hi")
    assert send(scripted_model, "DELETE", "/mock/log").json == {"ok": True}
    assert send(scripted_model, "GET", "/mock/log").json == []
    assert scripted_model.requests == []


def test_the_shared_prefix_of_two_requests_is_measured(scripted_model: ScriptedModel) -> None:
    first = [user("x" * 1000)]
    ask(scripted_model, "x" * 1000)
    ask(scripted_model, "x" * 1000, after=[{"role": "assistant", "content": "ok"}, user("more")])
    ask(scripted_model, "another model", model="other")
    same, extended, other = (record.prefix_bytes for record in scripted_model.requests)
    assert (same, other) == (0, 0)
    assert extended == len(json.dumps([None, first])) - 2


def test_connections_are_counted(scripted_model: ScriptedModel) -> None:
    assert scripted_model.connections == 0
    ask(scripted_model, "one")
    ask(scripted_model, "two")
    assert scripted_model.connections == 2
    assert scripted_model.wait_for(lambda m: m.open_connections == 0)


def test_visits_name_every_request(scripted_model: ScriptedModel) -> None:
    send(scripted_model, "GET", "/v1/models")
    ask(scripted_model, "hi")
    assert scripted_model.visits == ["GET /v1/models", "POST /v1/chat/completions"]


def test_waiting_gives_up_in_time(scripted_model: ScriptedModel) -> None:
    assert not scripted_model.wait_for(lambda m: m.aborted == 1, timeout=0.01)


async def test_a_coroutine_waits_without_blocking_its_loop(scripted_model: ScriptedModel) -> None:
    waiting = asyncio.create_task(scripted_model.until(lambda m: len(m.requests) == 2))
    await asyncio.to_thread(ask, scripted_model, "one")
    assert not waiting.done()
    await asyncio.to_thread(ask, scripted_model, "two")
    assert await waiting
    assert not await scripted_model.until(lambda m: m.aborted == 1, timeout=0.01)


def test_a_key_is_asked_for() -> None:
    with ScriptedModel(api_key="k") as model:
        assert send(model, "GET", "/v1/models").status == 401
        assert ask(model, "hi").status == 401
        assert send(model, "GET", "/v1/models", headers={"Authorization": "Bearer k"}).status == 200


def test_rules_answer_and_drive_tools() -> None:
    with ScriptedModel(answers={"capital": "Paris."}, default="Hm.") as model:
        assert ask(model, "The capital?").text == "Paris."
        assert ask(model, "And now?").text == "Hm."


def test_a_hundred_streams_at_once(scripted_model: ScriptedModel) -> None:
    wires = [open_stream(scripted_model, "[[mock:text,chunks=3,delay_ms=20]]") for _ in range(100)]
    for wire in wires:
        with wire:
            assert b"00002 " in read_until(wire, b"[DONE]")
    assert scripted_model.wait_for(lambda m: all(record.finished for record in m.requests))
