from __future__ import annotations

import jsonschema

from cashcode_jupyter.protocol.errors import ERROR_CODES, CashCodeError
from cashcode_jupyter.protocol.events import Done, Error
from cashcode_jupyter.protocol.schema import json_schema


def subclasses(kind: type[CashCodeError]) -> set[type[CashCodeError]]:
    return {kind}.union(*(subclasses(child) for child in kind.__subclasses__()))


def test_it_is_a_valid_schema_with_all_definitions():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"Action", "Event", "ErrorCode"} <= set(schema["$defs"])


def test_events_validate_against_it():
    schema = json_schema()
    event = Done(chat_id="a", seq=1, turn_id="t", duration_sec=1.0, stop_reason="answered").payload()
    jsonschema.validate(event, schema["$defs"]["Event"] | {"$defs": schema["$defs"]})


def test_every_error_has_a_code_of_the_protocol_and_an_http_status():
    for kind in subclasses(CashCodeError):
        assert kind.code in ERROR_CODES and 400 <= kind.status < 600


def test_an_error_event_carries_code_sentence_and_retry():
    class Slow(CashCodeError):
        code, retryable = "llm_rate_limit", True

    event = Error.of(Slow("Too fast.", retry_after=3), chat_id="a").payload()
    assert event == {
        "event": "error",
        "chat_id": "a",
        "code": "llm_rate_limit",
        "detail": "Too fast.",
        "retryable": True,
        "retry_after": 3,
    }
