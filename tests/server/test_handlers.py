from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cashcode_jupyter import __version__
from cashcode_jupyter.paths import default_config_dir
from cashcode_jupyter.server.extension import CashCodeExtension
from cashcode_jupyter.testing import ScriptedModel, directive
from tests.server.conftest import Call, LogWatch, events_until


@pytest.fixture
def ask(jp_ws_fetch: Any) -> Any:
    """Ask one question in a new chat and return the chat's id when its turn is over."""

    async def asked(content: str) -> str:
        socket = await jp_ws_fetch("cashcode", "ws")
        [ready] = await events_until(socket, "ready")
        await socket.write_message(json.dumps({"type": "message", "chat_id": ready["chat_id"], "content": content}))
        assert (await events_until(socket, "done", "error"))[-1]["event"] == "done"
        socket.close()
        return ready["chat_id"]

    return asked


class TestHealth:
    async def test_it_says_what_it_is_and_that_no_model_is_configured(self, call: Call) -> None:
        answer = await call("GET", "health")
        assert answer.status == 200
        assert answer.json == {
            "status": "ok",
            "service": "cashcode",
            "version": __version__,
            "llm_configured": False,
            "watches": 0,
            "mcp_connected": 0,
        }

    async def test_it_says_that_a_model_is_configured(self, call: Call, model: ScriptedModel) -> None:
        assert (await call("GET", "health")).json["llm_configured"] is True

    async def test_a_setting_that_cannot_be_used_is_named(
        self, call: Call, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CASHCODE_MAX_RETRIES", "many")
        answer = await call("GET", "health")
        assert (answer.status, answer.json["code"]) == (422, "bad_setting")
        assert "CASHCODE_MAX_RETRIES" in answer.json["detail"]

    async def test_many_first_requests_start_one_core(self, call: Call, log_watch: LogWatch) -> None:
        answers = await asyncio.gather(*(call("GET", "health") for _ in range(8)))
        assert {answer.status for answer in answers} == {200}
        assert len(await log_watch.seen("core.started")) == 1


class TestSessions:
    async def test_there_are_none_at_first(self, call: Call) -> None:
        assert (await call("GET", "sessions")).json == {"sessions": [], "next": None}

    async def test_a_chat_is_listed_read_renamed_and_deleted(
        self, call: Call, ask: Any, model: ScriptedModel, data_dir: Path
    ) -> None:
        chat_id = await ask(f"How are you? {directive(say='Fine')}")
        async with asyncio.timeout(5):  # `done` is told a moment before the run counts as over
            while (row := (await call("GET", "sessions")).json["sessions"][0])["running"]:
                pass
        assert row["chat_id"] == chat_id
        assert row["title"].startswith("How are you?")

        page = (await call("GET", f"sessions/{chat_id}/messages")).json
        assert page["chat_id"] == chat_id
        assert [(message["role"], message["content"]) for message in page["messages"]][-1] == (
            "assistant",
            "Fine",
        )

        renamed = await call("PATCH", f"sessions/{chat_id}", {"title": " A better name "})
        assert renamed.status == 200
        assert renamed.json["title"] == "A better name"
        assert (await call("GET", "sessions")).json["sessions"][0]["title"] == "A better name"

        assert (data_dir / "memory" / chat_id).is_dir()
        deleted = await call("DELETE", f"sessions/{chat_id}")
        assert (deleted.status, deleted.text) == (204, "")
        assert not (data_dir / "memory" / chat_id).exists()
        assert (await call("DELETE", f"sessions/{chat_id}")).status == 404

    async def test_pages_follow_each_other(self, call: Call, ask: Any, model: ScriptedModel) -> None:
        chats = [await ask(f"question {number} {directive(say='x')}") for number in range(3)]
        first = (await call("GET", "sessions?limit=2")).json
        second = (await call("GET", f"sessions?limit=2&before={first['next']}")).json
        listed = [row["chat_id"] for page in (first, second) for row in page["sessions"]]
        assert sorted(listed) == sorted(chats)
        assert second["next"] is None

    async def test_messages_are_paged_backwards(self, call: Call, ask: Any, model: ScriptedModel) -> None:
        chat_id = await ask(directive(say="answer"))
        [last] = (await call("GET", f"sessions/{chat_id}/messages?limit=1")).json["messages"]
        [before] = (await call("GET", f"sessions/{chat_id}/messages?before={last['cursor']}")).json["messages"]
        assert (before["role"], last["role"]) == ("user", "assistant")

    async def test_a_running_chat_says_so_and_is_stopped_before_it_is_deleted(
        self, call: Call, jp_ws_fetch: Any, model: ScriptedModel, data_dir: Path
    ) -> None:
        socket = await jp_ws_fetch("cashcode", "ws")
        [ready] = await events_until(socket, "ready")
        chat_id = ready["chat_id"]
        content = directive(chunks=200, delay_ms=50)
        await socket.write_message(json.dumps({"type": "message", "chat_id": chat_id, "content": content}))
        await events_until(socket, "delta")
        assert (await call("GET", "sessions")).json["sessions"][0]["running"] is True
        assert (await call("DELETE", f"sessions/{chat_id}")).status == 204
        assert await model.until(lambda model: model.aborted == 1)
        assert not (data_dir / "memory" / chat_id).exists()
        socket.close()

    async def test_a_blank_title_is_422(self, call: Call, ask: Any, model: ScriptedModel) -> None:
        chat_id = await ask(directive(say="x"))
        for title in ("", "  ", "\n\t"):
            assert (await call("PATCH", f"sessions/{chat_id}", {"title": title})).status == 422, title

    @pytest.mark.parametrize("before", ["garbage", "../..", "9" * 400, "é"])
    async def test_a_page_mark_that_we_never_gave_is_refused_in_words(self, call: Call, before: str) -> None:
        answer = await call("GET", f"sessions?before={quote(before, safe='%')}")
        assert (answer.status, answer.json["code"]) == (400, "bad_frame")

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("GET", "sessions/unknown/messages", None),
            ("PATCH", "sessions/unknown", {"title": "t"}),
            ("DELETE", "sessions/unknown", None),
            ("DELETE", "sessions/a%3Ab:c", None),
        ],
    )
    async def test_an_unknown_chat_is_404(self, call: Call, method: str, path: str, body: Any) -> None:
        answer = await call(method, path, body)
        assert (answer.status, answer.json["code"]) == (404, "not_found")


class TestResults:
    @pytest.fixture
    async def chat(self, ask: Any, model: ScriptedModel, data_dir: Path) -> Path:
        """The folder of a chat with one call, whose result has a file."""
        chat_id = await ask(directive("tools", tool="list_dir", say="done"))
        folder = data_dir / "memory" / chat_id
        history = folder / "history.jsonl"
        records = [json.loads(line) for line in history.read_text().splitlines()]
        [called] = [record for record in records if record["role"] == "tool"]
        called |= {"tool_call_id": "call_1", "content": "the beginning", "spill": "results/call_1.txt"}
        history.write_text("".join(json.dumps(record) + "\n" for record in records))
        (folder / "results").mkdir(exist_ok=True)
        return folder

    async def test_the_whole_result_is_given(self, call: Call, chat: Path) -> None:
        (chat / "results" / "call_1.txt").write_text("all of it, 你好")
        answer = await call("GET", f"sessions/{chat.name}/results/call_1")
        assert (answer.status, answer.json) == (200, {"text": "all of it, 你好"})

    async def test_what_is_larger_than_five_mebibytes_is_cut_and_says_so(self, call: Call, chat: Path) -> None:
        (chat / "results" / "call_1.txt").write_text("x" * ((5 << 20) + 1))
        found = (await call("GET", f"sessions/{chat.name}/results/call_1")).json
        assert (len(found["text"]), found["truncated"]) == (5 << 20, True)

    async def test_a_result_without_a_file_is_what_the_history_has(self, call: Call, chat: Path) -> None:
        answer = await call("GET", f"sessions/{chat.name}/results/call_1")
        assert answer.json == {"text": "the beginning"}

    @pytest.mark.parametrize("linked", ["file", "folder"])
    async def test_a_link_is_not_followed(self, call: Call, chat: Path, tmp_path: Path, linked: str) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "call_1.txt").write_text("secret")
        if linked == "file":
            (chat / "results" / "call_1.txt").symlink_to(outside / "call_1.txt")
        else:
            (chat / "results").rmdir()
            (chat / "results").symlink_to(outside)
        assert (await call("GET", f"sessions/{chat.name}/results/call_1")).json == {"text": "the beginning"}

    @pytest.mark.parametrize(
        "spill", ["../history.jsonl", "results/../metadata.json", "/etc/passwd", 7, "results/"]
    )
    async def test_a_record_cannot_name_another_file(self, call: Call, chat: Path, spill: Any) -> None:
        history = chat / "history.jsonl"
        history.write_text(history.read_text().replace('"results/call_1.txt"', json.dumps(spill)))
        assert (await call("GET", f"sessions/{chat.name}/results/call_1")).json == {"text": "the beginning"}

    @pytest.mark.parametrize(
        "call_id",
        [
            "call_2",
            "..",
            "%2e%2e",
            "..%2fhistory",
            "a%2fb",
            "a%00",
            "a%0a",
            "%ff",
            "a" * 129,
            "a%20b",
            "~",
            "a\\b",
            "",
        ],
    )
    async def test_every_other_call_is_404(self, call: Call, chat: Path, call_id: str) -> None:
        answer = await call("GET", f"sessions/{chat.name}/results/{call_id}")
        assert (answer.status, answer.json["code"]) in [(404, "not_found"), (400, "bad_frame")], call_id
        assert answer.status == 404 or "%ff" in call_id

    async def test_a_call_of_another_chat_is_404(self, call: Call, chat: Path, ask: Any) -> None:
        other = await ask(directive(say="x"))
        assert (await call("GET", f"sessions/{other}/results/call_1")).status == 404

    async def test_an_id_with_a_colon_and_a_dot_is_found(self, call: Call, chat: Path) -> None:
        history = chat / "history.jsonl"
        history.write_text(history.read_text().replace('"call_1"', '"functions.list_dir:0"'))
        answer = await call("GET", f"sessions/{chat.name}/results/functions.list_dir%3A0")
        assert (answer.status, answer.json) == (200, {"text": "the beginning"})


class TestLlmSettings:
    async def test_a_saved_profile_is_shown_without_its_key(self, call: Call) -> None:
        body = {"openai_compatible": {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-not-for-anyone"}}
        saved = await call("PUT", "settings/llm", body)
        assert saved.status == 200
        assert saved.json["openai_compatible"] == {
            "base_url": "http://127.0.0.1:9/v1",
            "ready": True,
            "api_key_configured": True,
        }
        assert (await call("GET", "settings/llm")).json == saved.json
        assert "sk-not-for-anyone" not in saved.text
        file = default_config_dir() / "settings" / "llm.json"
        assert file.stat().st_mode & 0o777 == 0o600

    async def test_a_new_address_wants_the_key_again(self, call: Call) -> None:
        body = {"openai_compatible": {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-1"}}
        await call("PUT", "settings/llm", body)
        answer = await call("PUT", "settings/llm", {"openai_compatible": {"base_url": "https://other.example/v1"}})
        assert (answer.status, answer.json["code"]) == (422, "key_required")

    @pytest.mark.parametrize("body", [{"unknown": {}}, {"openai_compatible": {"base_url": "http://a", "x": 1}}])
    async def test_unknown_fields_are_422(self, call: Call, body: dict[str, Any]) -> None:
        for method, path in (("PUT", "settings/llm"), ("POST", "settings/llm/test")):
            assert (await call(method, path, body)).status == 422

    async def test_a_connection_can_be_tested_without_saving_it(self, call: Call) -> None:
        with ScriptedModel() as other:
            body = {"openai_compatible": {"base_url": other.url}}
            tested = await call("POST", "settings/llm/test", body)
        assert tested.status == 200
        assert tested.json["success"] is True
        assert tested.json["model_count"] == 2
        assert (await call("GET", "settings/llm")).json["configured"] is False

    async def test_an_unreachable_server_is_400_with_a_sentence(self, call: Call) -> None:
        body = {"openai_compatible": {"base_url": "http://127.0.0.1:9/v1"}}
        answer = await call("POST", "settings/llm/test", body)
        assert answer.status == 400
        assert answer.json["detail"]

    async def test_models_are_discovered(self, call: Call, model: ScriptedModel) -> None:
        found = (await call("GET", "settings/llm/models")).json
        assert {row["id"] for row in found["models"] if row["provider"] == "openai_compatible"} == {
            "mock",
            "mock-strict",
        }
        assert found["providers"]["openai_compatible"]["ready"] is True


class TestApprovals:
    async def test_the_defaults_are_shown_and_can_be_changed(self, call: Call, data_dir: Path) -> None:
        shown = (await call("GET", "settings/approvals")).json
        assert shown["risks"] == {
            "read": "allow",
            "write": "ask",
            "execute": "ask",
            "network": "allow",
            "memory": "allow",
        }
        saved = await call("PUT", "settings/approvals", {"risks": {"network": "deny"}, "tools": {"exec": "deny"}})
        assert saved.status == 200
        assert saved.json["risks"]["network"] == "deny"
        assert saved.json["tools"] == {"exec": "deny"}
        assert (await call("GET", "settings/approvals")).json == saved.json

    @pytest.mark.parametrize("body", [{"risks": {"read": "perhaps"}}, {"risks": {"fly": "allow"}}, {"x": 1}])
    async def test_unknown_risks_and_answers_are_422(self, call: Call, body: dict[str, Any]) -> None:
        assert (await call("PUT", "settings/approvals", body)).status == 422


@pytest.mark.parametrize("document", ["memory", "persona"])
class TestDocuments:
    async def test_it_is_written_by_who_has_seen_it(self, call: Call, document: str) -> None:
        seen = (await call("GET", document)).json
        saved = await call("PUT", document, {"text": "New words.\n", "expected_hash": seen["hash"]})
        assert saved.status == 200
        assert saved.json["text"] == "New words.\n"
        assert saved.json["hash"] != seen["hash"]
        assert (await call("GET", document)).json == saved.json

    async def test_a_stale_hash_is_409_with_the_current_one(self, call: Call, document: str) -> None:
        seen = (await call("GET", document)).json
        await call("PUT", document, {"text": "First.", "expected_hash": seen["hash"]})
        late = await call("PUT", document, {"text": "Second.", "expected_hash": seen["hash"]})
        assert (late.status, late.json["code"]) == (409, "conflict")
        now = (await call("GET", document)).json
        assert now["text"] == "First."
        assert late.json["current_hash"] == now["hash"]


async def test_an_empty_persona_returns_to_the_built_in_one(call: Call, data_dir: Path) -> None:
    builtin = (await call("GET", "persona")).json
    assert builtin["builtin"] is True
    own = (await call("PUT", "persona", {"text": "A pirate.", "expected_hash": builtin["hash"]})).json
    assert own["builtin"] is False
    back = (await call("PUT", "persona", {"text": "", "expected_hash": own["hash"]})).json
    assert back == builtin


async def test_the_log_names_the_request_but_never_its_content(
    call: Call, data_dir: Path, log_watch: LogWatch, extension: CashCodeExtension
) -> None:
    await call("GET", "health")
    await call("PATCH", "sessions/abc", {"title": "very private"}, headers={"X-Request-ID": "me-7"})
    await log_watch.seen("http.request", 2)
    await extension.stop_extension()
    lines = (data_dir / "logs" / "cashcode.log").read_text()
    assert '"request_id": "me-7"' in lines
    assert "sessions/{chat_id}" in lines
    assert "very private" not in lines
