from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.protocol.errors import Conflict, LlmRateLimit, StorageError
from cashcode_jupyter.server.answers import problem
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.server.handlers import ROUTES
from tests.server.conftest import Call

WITH_ID = [
    (method.upper(), route)
    for route, handler in ROUTES
    if "{chat_id}" in route
    for method in ("get", "put", "post", "patch", "delete")
    if method in vars(handler)
]
TRICKS = [
    "..",
    ".",
    "%2e%2e",
    "%2e",
    "%2E%2E%2F%2E%2E",
    "..%2fabc",
    "%252e%252e",
    "a%00b",
    "a%0a",
    "a%20b",
    "%ff%fe",
    "a" * 65,
    "%3a" * 65,
    "%E4%BD%A0",
    "a\\b",
    "a%5cb",
    "~",
]


def everything_under(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "logs" not in path.parts}


@pytest.mark.parametrize(("method", "route"), WITH_ID)
@pytest.mark.parametrize("chat_id", TRICKS)
async def test_a_wrong_id_is_404_and_touches_nothing_on_disk(
    call: Call, tmp_path: Path, method: str, route: str, chat_id: str
) -> None:
    before = everything_under(tmp_path)
    answer = await call(
        method, route.format(chat_id=chat_id, call_id="call_1"), {"title": "t"} if method == "PATCH" else None
    )
    # Bytes that are no UTF-8 are refused by the server itself, as a bad request.
    assert answer.status in ((400, 404) if "%ff" in chat_id else (404,))
    assert set(answer.json) == {"code", "detail", "request_id"}
    assert everything_under(tmp_path) == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "nothing", 404),
        ("GET", "", 404),
        ("GET", "sessions/", 404),
        ("GET", "sessions/a/b/c", 404),
        ("GET", "/", 404),
        ("GET", "/nothing", 404),
        ("POST", "health", 405),
        ("DELETE", "memory", 405),
        ("BREW", "health", 405),
        ("PATCH", "nothing", 404),
        ("HEAD", "nothing", 404),
    ],
)
async def test_every_error_is_json_with_its_code_and_the_request_id(
    call: Call, method: str, path: str, status: int
) -> None:
    answer = await call(method, path, headers={"X-Request-ID": "me-1"})
    assert answer.status == status
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.headers["X-Request-ID"] == "me-1"
    if method != "HEAD":
        assert set(answer.json) == {"code", "detail", "request_id"}
        assert answer.json["request_id"] == "me-1"


@pytest.mark.parametrize("given_id", ["", "a b", "x" * 129, 'a"b', "é"])
async def test_a_request_id_that_is_not_well_formed_is_replaced(call: Call, given_id: str) -> None:
    answer = await call("GET", "nothing", headers={"X-Request-ID": given_id})
    assert answer.headers["X-Request-ID"] not in ("", given_id)
    assert answer.json["request_id"] == answer.headers["X-Request-ID"]


async def test_two_requests_have_two_ids(call: Call) -> None:
    first, second = await call("GET", "nothing"), await call("GET", "nothing")
    assert first.headers["X-Request-ID"] != second.headers["X-Request-ID"]


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "memory"), ("PUT", "settings/llm"), ("PATCH", "sessions/abc"), ("PUT", "persona")]
)
async def test_a_body_that_is_no_json_object_is_400(call: Call, method: str, path: str) -> None:
    for body in ("", "{", "[]", "null", '"text"', "1", b"\xff", "[" * 100_000, "1" * 5000, r'{"title": "\ud800"}'):
        answer = await call(method, path, body)
        assert (answer.status, answer.json["code"]) == (400, "bad_frame"), body[:9]


@pytest.mark.parametrize(
    ("method", "path", "body", "names"),
    [
        ("PATCH", "sessions/abc", {"title": "t", "extra": 1}, "extra"),
        ("PATCH", "sessions/abc", {}, "title"),
        ("PATCH", "sessions/abc", {"title": 5}, "title"),
        ("PUT", "memory", {"text": "t"}, "expected_hash"),
        ("PUT", "memory", {"text": "t", "expected_hash": "x", "force": True}, "force"),
        ("PUT", "persona", {"text": None, "expected_hash": "x"}, "text"),
    ],
)
async def test_unknown_missing_and_wrong_fields_are_422_and_named(
    call: Call, method: str, path: str, body: Any, names: str
) -> None:
    answer = await call(method, path, body)
    assert answer.status == 422
    assert names in answer.json["detail"]


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=-1", "limit=x", "limit=", "limit=%D9%A3"])
async def test_a_page_size_out_of_range_is_422(call: Call, query: str) -> None:
    answer = await call("GET", f"sessions?{query}")
    assert answer.status == 422
    assert "limit" in answer.json["detail"]


async def test_a_body_of_more_than_eight_mebibytes_is_413(call: Call) -> None:
    answer = await call("PUT", "memory", b"x" * ((8 << 20) + 1))
    assert answer.status == 413
    assert answer.json["code"] == "bad_frame"


async def test_a_defect_is_500_without_details_and_its_frames_are_logged(
    call: Call, extension: CashCodeExtension, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> None:
        raise ValueError("the secret of the prompt")

    monkeypatch.setattr(extension.door, "core", broken)
    with caplog.at_level(logging.ERROR):
        answer = await call("GET", "health")
    assert answer.status == 500
    assert answer.json["code"] == "internal"
    assert "secret" not in answer.text
    [record] = [record for record in caplog.records if record.getMessage() == "http.failed"]
    assert record.exc_info is not None


async def test_each_request_leaves_one_log_line_without_content(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "cashcode.http"):
        await call("PATCH", "sessions/abc?about=private", {"title": "private", "extra": 1})
    [record] = [record for record in caplog.records if record.getMessage() == "http.request"]
    fields = record.__dict__["fields"]
    assert (fields["method"], fields["route"]) == ("PATCH", "sessions/{chat_id}")
    assert fields["status"] == 422
    assert fields["duration_ms"] >= 0
    assert "private" not in json.dumps(fields)


class CurrentHash(Conflict):
    current_hash = "abc"


def test_an_error_of_ours_gives_its_own_status_code_and_sentence() -> None:
    found = problem(StorageError("the disk is full"), 500)
    assert (found.status, found.code, found.detail) == (507, "storage", "the disk is full")


def test_a_conflict_tells_the_current_hash() -> None:
    assert problem(CurrentHash("changed"), 500).current_hash == "abc"


def test_a_rate_limit_tells_when_to_come_back() -> None:
    assert problem(LlmRateLimit("busy", retry_after=2.5), 500).retry_after == 2.5


@given(st.text(), st.integers(400, 599))
def test_an_error_that_is_not_ours_never_shows_its_text(text: str, status: int) -> None:
    found = problem(RuntimeError(f"<{text}>"), status)
    assert f"<{text}>" not in found.detail
    assert found.status == status
