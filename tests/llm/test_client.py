from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cashcode_jupyter.config import Settings
from cashcode_jupyter.llm.client import ModelRequest, Models
from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.llm.settings import LlmStore
from cashcode_jupyter.protocol.errors import (
    LlmAuth,
    LlmBadRequest,
    LlmError,
    LlmModelNotFound,
    LlmNotConfigured,
    LlmProtocol,
    LlmRateLimit,
    LlmTimeout,
    LlmTls,
    LlmUnreachable,
)
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.testing import ScriptedModel, directive
from tests.llm.conftest import TOOLS, Asker, NoLocalModel

MakeAsker = Callable[..., Asker]
BUSY = [{"role": "user", "content": directive("text", quirk="429", retry_after=100)}]


class LocalModel:
    """A starter whose server is the scripted model."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.n_ctx = 2048
        self.api_key = "starter-key"

    @property
    def model(self) -> str:
        return "tiny"

    def registered(self) -> LocalModel:
        return self

    async def endpoint(self) -> str:
        return self._url


# Choosing


def choice(model: str, provider: Any = "openai_compatible") -> ModelChoice:
    return ModelChoice(provider=provider, model=model)


async def test_what_is_wanted_comes_before_the_last_before_the_default(asker: Asker) -> None:
    asker.store.update({"default": {"provider": "ollama", "model": "c"}})
    assert asker.models.choose(choice("a"), choice("b")).model == "a"
    assert asker.models.choose(None, choice("b")).model == "b"
    assert asker.models.choose(None, None) == choice("c", "ollama")


async def test_without_any_choice_the_ways_to_one_are_named(tmp_path: Path) -> None:
    empty = Models(LlmStore(tmp_path / "none.json", {}), Settings.load({}), NoLocalModel())
    with pytest.raises(LlmNotConfigured) as caught:
        empty.choose(None, None)
    assert "cashcode starter" in caught.value.detail
    with pytest.raises(LlmNotConfigured):
        empty.choose(choice("a"), None)
    with pytest.raises(LlmNotConfigured):
        empty.choose(choice("a", "starter"), None)
    await empty.aclose()


async def test_an_address_without_a_chosen_model_asks_for_one(asker: Asker) -> None:
    with pytest.raises(LlmNotConfigured) as caught:
        asker.models.choose(None, None)
    assert "Choose" in caught.value.detail


# The request


async def test_the_request_is_small_and_its_prefix_is_tools_and_messages(asker: Asker) -> None:
    await asker.ask("hello", max_tokens=5)
    await asker.ask("hello", tools=TOOLS, tool_choice="glob")
    plain, with_tools = (record.body for record in asker.server.requests)
    assert plain == {
        "model": "mock",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 5,
    }
    assert list(with_tools)[:3] == ["model", "tools", "messages"]
    assert with_tools["tool_choice"] == {"type": "function", "function": {"name": "glob"}}


async def test_twenty_answers_use_one_connection(asker: Asker) -> None:
    for _number in range(20):
        await asker.ask(directive("text", chunks=2))
    assert asker.server.connections == 1


async def test_the_key_is_sent_and_nothing_from_the_sdks_environment(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "BASE_URL", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: from-the-environment\nAuthorization: Bearer leak")
    await asker.ask()
    await asker.ask(provider="ollama")
    asker.store.update({"openai_compatible": {"base_url": asker.server.url, "api_key": "stored-key"}})
    await asker.ask()
    sent = [record.headers for record in asker.server.requests]
    assert [headers["authorization"] for headers in sent] == [
        "Bearer not-needed",
        "Bearer not-needed",
        "Bearer stored-key",
    ]
    assert "from-the-environment" not in json.dumps(sent)


async def test_proxies_do_not_stand_before_a_loopback_address(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert (await asker.ask()).text == "Hello there"


async def test_the_starter_is_served_with_its_own_key_and_without_tools(
    server: ScriptedModel, store: LlmStore
) -> None:
    local = LocalModel(server.url)
    models = Models(store, Settings.load({}), local)
    asker = Asker(models, store, server)
    assert models.choose(None, None) == choice("tiny", "starter")
    completion = await asker.ask("[[mock:text,say=tiny answer]]", provider="starter", model="tiny", tools=TOOLS)
    assert completion.text == "tiny answer"
    assert server.requests[0].headers["authorization"] == "Bearer starter-key"
    assert "tools" not in server.requests[0].body
    assert await models.context_window(choice("tiny", "starter")) == 2048
    await models.aclose()


# Learned rules


@pytest.mark.parametrize(
    ("quirk", "options", "gone"),
    [
        ("no_stream_options", {}, "stream_options"),
        ("no_parallel_tool_calls", {"tools": TOOLS}, "parallel_tool_calls"),
        ("no_tool_choice", {"tools": TOOLS, "tool_choice": "auto"}, "tool_choice"),
        ("no_max_tokens", {"max_tokens": 9}, "max_tokens"),
        ("no_tools", {"tools": TOOLS}, "tools"),
    ],
)
async def test_a_refused_parameter_is_left_out_and_never_sent_again(
    asker: Asker, quirk: str, options: dict[str, Any], gone: str
) -> None:
    prompt = directive("text", text="fine", quirk=quirk)
    assert (await asker.ask(prompt, **options)).text == "fine"
    assert (await asker.ask(prompt, **options)).text == "fine"
    assert [gone in record.body for record in asker.server.requests] == [True, False, False]
    assert asker.heard.retries == []
    if gone == "max_tokens":
        assert asker.server.requests[-1].body["max_completion_tokens"] == 9
    if gone == "tools":
        assert asker.models.profile(choice("mock")).tools is False


async def test_several_rules_are_learned_in_one_request(asker: Asker) -> None:
    prompt = directive("text", text="fine", quirk="no_stream_options+no_parallel_tool_calls+no_tool_choice")
    assert (await asker.ask(prompt, tools=TOOLS, tool_choice="auto")).text == "fine"
    assert len(asker.server.requests) == 4


async def test_what_was_learned_holds_for_that_model_only(asker: Asker) -> None:
    await asker.ask(directive("text", text="fine", quirk="no_stream_options"))
    assert asker.models.profile(choice("mock")).stream_options is False
    assert asker.models.profile(choice("other")).stream_options is True


def history(profile: Profile, prompt: str) -> bytes:
    """A tool round under the profile's rules, as `wire.py` would render it."""
    call_id = "abcdefghi" if profile.id_rule == "mistral9" else "call_1"
    calls = [{"id": call_id, "type": "function", "function": {"name": "glob", "arguments": "{}"}}]
    assistant: dict[str, Any] = {
        "role": "assistant",
        "content": None if profile.content_null else "",
        "tool_calls": calls,
    }
    if profile.echo_reasoning:
        assistant["reasoning_content"] = "why"
    result = {"role": "tool", "tool_call_id": call_id, "content": "none"}
    return json.dumps([{"role": "user", "content": prompt}, assistant, result]).encode()


@pytest.mark.parametrize(
    ("quirk", "expected"),
    [
        ("no_content_null", {"content_null": False}),
        ("echo_reasoning", {"echo_reasoning": True}),
        ("mistral_ids", {"id_rule": "mistral9"}),
        ("echo_reasoning+no_content_null+mistral_ids", {"echo_reasoning": True, "content_null": False}),
    ],
)
async def test_messages_are_rendered_again_under_a_learned_rule(
    asker: Asker, quirk: str, expected: dict[str, Any]
) -> None:
    prompt = directive("text", text="fine", quirk=quirk)
    completion = await asker.ask(tools=TOOLS, messages=lambda profile: history(profile, prompt))
    assert completion.text == "fine"
    profile = asker.models.profile(choice("mock"))
    assert {name: getattr(profile, name) for name in expected} == expected


@pytest.mark.parametrize("quirk", ["no_content_null+no_content_empty", "echo_reasoning+no_echo_reasoning"])
async def test_rules_that_contradict_each_other_end_in_an_error(asker: Asker, quirk: str) -> None:
    prompt = directive("text", text="fine", quirk=quirk)
    with pytest.raises(LlmBadRequest):
        await asker.ask(messages=lambda profile: history(profile, prompt), tools=TOOLS)
    assert len(asker.server.requests) < 12


async def test_a_refused_request_that_names_no_rule_is_not_sent_again(asker: Asker) -> None:
    with pytest.raises(LlmBadRequest):
        await asker.ask(directive("text", quirk="400"))
    assert len(asker.server.requests) == 1


# Trying again


async def test_a_busy_server_is_asked_again_after_the_time_it_names(make_asker: MakeAsker) -> None:
    asker = make_asker(max_retries=3)
    prompt = directive("text", text="now", fault=429, retry_after=0, times=2, key="busy")
    assert (await asker.ask(prompt)).text == "now"
    assert [(type(error), attempt, delay) for error, attempt, delay in asker.heard.retries] == [
        (LlmRateLimit, 1, 0.0),
        (LlmRateLimit, 2, 0.0),
    ]


async def test_retries_end_with_the_error(make_asker: MakeAsker) -> None:
    asker = make_asker(max_retries=2)
    with pytest.raises(LlmRateLimit):
        await asker.ask(directive("text", quirk="429", retry_after=0))
    assert len(asker.server.requests) == 3


@pytest.mark.parametrize("quirk", ["401", "400", "404", "402", "overflow_openai", "html_200"])
async def test_what_stays_the_same_is_asked_once(make_asker: MakeAsker, quirk: str) -> None:
    asker = make_asker(max_retries=3)
    with pytest.raises(LlmError):
        await asker.ask(directive("text", quirk=quirk))
    assert len(asker.server.requests) == 1
    assert asker.heard.retries == []


async def test_nothing_is_asked_again_once_something_was_shown(make_asker: MakeAsker) -> None:
    asker = make_asker(max_retries=3)
    with pytest.raises(LlmProtocol):
        await asker.ask(directive("text", chunks=9, after=3, quirk="cut"))
    assert len(asker.server.requests) == 1
    assert asker.heard.text


async def test_an_answer_that_broke_before_anything_was_shown_is_asked_again(make_asker: MakeAsker) -> None:
    asker = make_asker(max_retries=1)
    prompt = directive("text", text="whole", fault="disconnect", after=0, times=1, key="cut")
    assert (await asker.ask(prompt)).text == "whole"
    assert len(asker.heard.retries) == 1


async def test_the_wait_before_a_retry_can_be_cancelled(make_asker: MakeAsker) -> None:
    asker = make_asker(max_retries=3)
    waiting = asyncio.Event()
    request = ModelRequest(choice("mock"), lambda _profile: json.dumps(BUSY).encode())
    stream = asker.models.stream(
        request, on_text=print, on_reasoning=print, on_retry=lambda _error, _attempt, _delay: waiting.set()
    )
    task = asyncio.create_task(stream)
    await asyncio.wait_for(waiting.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(asker.server.requests) == 1


# Silence and stopping


async def test_a_server_that_never_answers_is_given_up(make_asker: MakeAsker) -> None:
    for quirk in ("silent", "silent_stream"):
        asker = make_asker(first_token_timeout=0.2, max_retries=2)
        with pytest.raises(LlmTimeout):
            await asker.ask(directive("text", quirk=quirk))
        assert asker.heard.retries == []
    assert await asker.server.until(lambda server: server.aborted == 2)


async def test_a_stream_that_falls_silent_is_given_up_and_keeps_its_text(make_asker: MakeAsker) -> None:
    asker = make_asker(first_token_timeout=5.0, idle_timeout=0.2)
    with pytest.raises(LlmTimeout):
        await asker.ask(directive("text", chunks=9, after=3, quirk="stall"))
    assert asker.heard.text[:2] == ["00000 ", "00001 "]
    assert await asker.server.until(lambda server: server.aborted == 1)


async def test_keep_alive_comments_count_as_a_sign_of_life(make_asker: MakeAsker) -> None:
    asker = make_asker(first_token_timeout=0.4, idle_timeout=0.4)
    task = asyncio.create_task(asker.ask(directive("text", quirk="keepalive_only", delay_ms=50)))
    done, _pending = await asyncio.wait([task], timeout=1.2)
    assert not done
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_slow_first_byte_is_waited_for(make_asker: MakeAsker) -> None:
    asker = make_asker(first_token_timeout=5.0, idle_timeout=0.1)
    assert (await asker.ask(directive("text", text="late", quirk="slow_first", first_ms=400))).text == "late"


async def test_a_finished_answer_does_not_wait_for_a_stream_that_stays_open(
    make_asker: MakeAsker,
) -> None:
    async def forgetful(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        event = b'data: {"choices":[{"delta":{"content":"all"},"finish_reason":"stop"}]}\n\n'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + event)
        await writer.drain()
        await reader.read()
        writer.close()

    asker = make_asker(idle_timeout=0.2)
    async with await asyncio.start_server(forgetful, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        asker.store.update({"openai_compatible": {"base_url": f"http://127.0.0.1:{port}/v1"}})
        completion = await asker.ask()
    assert (completion.text, completion.finish_reason) == ("all", "stop")


async def test_text_that_was_held_back_is_shown_when_the_stream_breaks(asker: Asker) -> None:
    prompt = directive("text", text="see <tool_call>{", size=1, after=16, quirk="cut")
    with pytest.raises(LlmProtocol):
        await asker.ask(prompt, tools=TOOLS)
    assert "".join(asker.heard.text) == "see <tool_call>{"


async def test_cancelling_aborts_the_request_at_the_server(asker: Asker) -> None:
    task = asyncio.create_task(asker.ask(directive("text", chunks=1000, delay_ms=20)))
    assert await asker.server.until(lambda server: bool(server.requests) and server.requests[0].events > 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asker.heard.text
    assert await asker.server.until(lambda server: server.aborted == 1)
    assert (await asker.ask()).text == "Hello there"


async def test_cancelling_while_the_server_is_silent_aborts_it_too(asker: Asker) -> None:
    task = asyncio.create_task(asker.ask(directive("text", quirk="silent")))
    assert await asker.server.until(lambda server: bool(server.requests))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asker.server.until(lambda server: server.aborted == 1)


# Settings that change


async def test_a_running_answer_keeps_its_client_when_the_settings_change(asker: Asker) -> None:
    with ScriptedModel(default="from the other server") as other:
        task = asyncio.create_task(asker.ask(directive("text", chunks=5, delay_ms=40)))
        assert await asker.server.until(lambda server: bool(server.requests) and server.requests[0].events > 1)
        asker.store.update({"openai_compatible": {"base_url": other.url}})
        second = Asker(asker.models, asker.store, other)
        assert (await second.ask("hi")).text == "from the other server"
        assert (await task).text == "00000 00001 00002 00003 00004 "
        assert await asker.server.until(lambda server: server.open_connections == 0)


async def test_closing_leaves_no_connection_open(asker: Asker) -> None:
    await asker.ask()
    await asker.models.aclose()
    assert await asker.server.until(lambda server: server.open_connections == 0)


async def test_nothing_that_listens_is_said_at_once_and_not_retried(
    server: ScriptedModel, make_asker: MakeAsker
) -> None:
    asker = make_asker(max_retries=3)
    server.stop()
    with pytest.raises(LlmUnreachable) as caught:
        await asker.ask()
    assert "running" in caught.value.detail
    assert asker.heard.retries == []


async def test_a_tls_address_that_speaks_plain_http_says_so(make_asker: MakeAsker) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    asker = make_asker(max_retries=3)
    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        asker.store.update({"openai_compatible": {"base_url": f"https://127.0.0.1:{port}/v1"}})
        with pytest.raises(LlmTls) as caught:
            await asker.ask()
    assert "http://" in caught.value.detail
    assert asker.heard.retries == []


async def test_a_redirect_is_not_followed_and_said(make_asker: MakeAsker) -> None:
    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 307 Moved\r\nlocation: http://203.0.113.1/v1\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    asker = make_asker()
    async with await asyncio.start_server(elsewhere, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        asker.store.update({"openai_compatible": {"base_url": f"http://127.0.0.1:{port}/v1"}})
        with pytest.raises(LlmBadRequest) as caught:
            await asker.ask()
    assert "redirects" in caught.value.detail


# Discovery, context, test


async def test_every_provider_lists_its_models(asker: Asker) -> None:
    found = await asker.models.discover()
    assert found["providers"] == {
        "openai_compatible": {"ready": True},
        "ollama": {"ready": True},
        "starter": {"ready": False},
    }
    assert {"provider": "ollama", "id": "mock:latest", "context_window": 32768, "vision": False} in found["models"]
    assert {"provider": "openai_compatible", "id": "mock"} in found["models"]


async def test_a_provider_that_fails_costs_its_own_rows_only(asker: Asker) -> None:
    with ScriptedModel() as gone:
        asker.store.update({"openai_compatible": {"base_url": gone.url}})
    found = await asker.models.discover()
    assert found["providers"]["openai_compatible"]["error"]
    assert "error" not in found["providers"]["ollama"]
    assert {row["provider"] for row in found["models"]} == {"ollama"}


async def test_many_models_are_cut_at_five_hundred_in_the_order_of_their_names(
    store: LlmStore, make_asker: MakeAsker
) -> None:
    names = [f"{'M' if number % 2 else 'm'}{number:04d}" for number in range(600)]
    with ScriptedModel(models=names) as many:
        store.update({"openai_compatible": {"base_url": many.url}, "ollama": {"base_url": many.origin}})
        found = await make_asker().models.discover()
    for provider in ("openai_compatible", "ollama"):
        ids = [row["id"] for row in found["models"] if row["provider"] == provider]
        assert len(ids) == 500
        assert ids == sorted(ids, key=str.casefold)


async def test_the_context_of_an_ollama_model_is_asked_and_then_known(
    store: LlmStore, make_asker: MakeAsker
) -> None:
    with ScriptedModel(context_window=131_072, loaded_window=4096) as ollama:
        store.update({"ollama": {"base_url": ollama.origin}})
        asker = Asker(make_asker().models, store, ollama)
        wanted = choice("mock", "ollama")
        first = await asker.models.context_window(wanted)
        await asker.ask(provider="ollama")
        assert await asker.models.context_window(wanted) == 4096
        asked = len(ollama.visits)
        assert await asker.models.context_window(wanted) == 4096
        assert len(ollama.visits) == asked
        assert first
        assert asker.models.profile(wanted).context_window == 4096


async def test_the_context_of_an_unreachable_ollama_is_unknown(server: ScriptedModel, asker: Asker) -> None:
    server.stop()
    assert await asker.models.context_window(choice("mock", "ollama")) is None


async def test_an_overflow_teaches_the_context_window(asker: Asker) -> None:
    with pytest.raises(LlmError):
        await asker.ask(directive("text", quirk="overflow_vllm"))
    assert await asker.models.context_window(choice("mock")) == 32_768


async def test_a_missing_model_is_explained_with_names_of_the_server(asker: Asker) -> None:
    with pytest.raises(LlmModelNotFound) as caught:
        await asker.ask(directive("text", quirk="404"), model="mock-strikt")
    assert "mock-strict" in caught.value.detail


async def test_a_connection_test_counts_the_models_and_stores_nothing(asker: Asker) -> None:
    before = asker.store.view()
    answer = await asker.models.test({"openai_compatible": {"base_url": asker.server.url + "/", "api_key": "new"}})
    assert answer == {
        "success": True,
        "provider": "openai_compatible",
        "model_count": 2,
        "message": "Connected; models found: 2.",
    }
    assert asker.store.view() == before


async def test_a_failed_connection_test_has_status_400_and_a_fixed_sentence(asker: Asker) -> None:
    with ScriptedModel(api_key="right") as guarded:
        with pytest.raises(LlmAuth) as caught:
            await asker.models.test({"openai_compatible": {"base_url": guarded.url, "api_key": "wrong"}})
        assert caught.value.status == 400
        closed = guarded.origin
    with pytest.raises(LlmUnreachable) as unreachable:
        await asker.models.test({"ollama": {"base_url": closed}})
    assert (unreachable.value.status, unreachable.value.code) == (400, "llm_unreachable")


def test_importing_the_model_layer_loads_no_client_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, cashcode_jupyter.llm.client, cashcode_jupyter.llm.settings\n"
        "print([name for name in ('openai', 'httpx2', 'mcp', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
