"""The past over REST: found by its words, and taken along as a file."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from cashcode_jupyter.testing import ScriptedModel, directive
from tests.server.conftest import Call, events_until


@pytest.fixture
async def chat(jp_ws_fetch: Any, model: ScriptedModel) -> str:
    """A chat with one question about a zeppelin."""
    socket = await jp_ws_fetch("cashcode", "ws")
    [ready] = await events_until(socket, "ready")
    action = {"type": "message", "chat_id": ready["chat_id"], "content": directive("text", chunks=2) + " zeppelin"}
    await socket.write_message(json.dumps(action))
    await events_until(socket, "done", "error")
    socket.close()
    return ready["chat_id"]


async def test_a_turn_is_found_by_its_words(call: Call, chat: str) -> None:
    answer = await call("GET", "sessions/search?q=Zeppelin")
    assert answer.status == 200 and answer.json["complete"] is True
    [hit] = answer.json["hits"]
    assert (hit["chat_id"], hit["cursor"]) == (chat, 1) and "zeppelin" in hit["snippet"]


@pytest.mark.parametrize("query", ["", "?q=", "?q=a&limit=0", "?q=a&limit=many"])
async def test_a_search_without_words_or_with_a_wrong_limit_says_so(call: Call, query: str) -> None:
    answer = await call("GET", f"sessions/search{query}")
    assert answer.status == 422 and answer.json["detail"]


async def test_a_chat_is_exported_as_a_valid_notebook(call: Call, chat: str) -> None:
    answer = await call("GET", f"sessions/{chat}/export")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    nbformat.validate(nbformat.reads(answer.text, as_version=4))


@pytest.mark.parametrize("format", ["md", "jsonl", "claude-code"])
async def test_the_other_formats_hold_the_question(call: Call, chat: str, format: str) -> None:
    answer = await call("GET", f"sessions/{chat}/export?format={format}")
    assert answer.status == 200 and "zeppelin" in answer.text


async def test_an_unknown_chat_and_an_unknown_format_are_refused_in_words(call: Call, chat: str) -> None:
    assert (await call("GET", "sessions/nobody/export")).status == 404
    wrong = await call("GET", f"sessions/{chat}/export?format=docx")
    assert wrong.status == 422 and "ipynb" in wrong.json["detail"]
