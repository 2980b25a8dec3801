from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.llm.addresses import base_url, is_loopback, ollama_from_environment
from cashcode_jupyter.llm.settings import LlmStore, SettingsUnreadable
from cashcode_jupyter.protocol.errors import BadSetting, CashCodeError, KeyRequired, LlmNotConfigured, StorageError
from cashcode_jupyter.protocol.events import ModelChoice

URL = "https://api.example.com/v1"
KEY = "sk-very-secret-key"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings" / "llm.json"


@pytest.fixture
def store(path: Path) -> LlmStore:
    return LlmStore(path, {})


def openai(**fields: Any) -> dict[str, Any]:
    return {"openai_compatible": {"base_url": URL, **fields}}


def test_an_empty_store_is_not_configured_and_makes_no_file(store: LlmStore, path: Path) -> None:
    assert store.view() == {
        "configured": False,
        "openai_compatible": {"base_url": "", "ready": False, "api_key_configured": False},
        "ollama": {"base_url": "", "ready": False},
        "starter": {"ready": False, "model": None},
        "default": None,
    }
    assert not path.exists()


def test_what_was_stored_is_there_for_the_next_process(store: LlmStore, path: Path) -> None:
    default = {"provider": "ollama", "model": "qwen3"}
    store.update({**openai(api_key=KEY), "ollama": {"base_url": "http://box:11434/v1/"}, "default": default})
    other = LlmStore(path, {})
    assert other.endpoint("openai_compatible").api_key == KEY
    assert other.endpoint("ollama").base_url == "http://box:11434/v1"
    assert other.default == ModelChoice(provider="ollama", model="qwen3")
    assert json.loads(path.read_text()) == {
        "version": 2,
        "openai_compatible": {"base_url": URL, "api_key": KEY},
        "ollama": {"base_url": "http://box:11434"},
        "default": default,
    }


def test_a_key_never_comes_out_of_the_view_or_a_repr(store: LlmStore) -> None:
    store.update(openai(api_key=KEY))
    assert KEY not in json.dumps(store.view())
    assert KEY not in repr(store.endpoint("openai_compatible"))
    assert KEY not in repr(store.load())
    assert store.view()["openai_compatible"]["api_key_configured"] is True
    assert store.secrets() == (KEY,)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_the_file_is_private_and_so_is_its_folder(store: LlmStore, path: Path) -> None:
    store.update(openai(api_key=KEY))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("blank", [{}, {"api_key": ""}, {"api_key": "  "}, {"api_key": None}])
def test_a_blank_key_keeps_the_stored_one(store: LlmStore, blank: dict[str, Any]) -> None:
    store.update(openai(api_key=KEY))
    store.update(openai(**blank))
    assert store.endpoint("openai_compatible").api_key == KEY


def test_clearing_removes_the_key(store: LlmStore) -> None:
    store.update(openai(api_key=KEY))
    store.update(openai(clear_api_key=True))
    assert store.endpoint("openai_compatible").api_key == ""
    assert store.secrets() == ()


def test_a_new_key_and_clearing_together_are_refused(store: LlmStore) -> None:
    with pytest.raises(BadSetting) as caught:
        store.update(openai(api_key=KEY, clear_api_key=True))
    assert caught.value.status == 422


@pytest.mark.parametrize("ask", [LlmStore.update, LlmStore.candidate])
def test_a_changed_address_wants_the_key_again(store: LlmStore, ask: Any) -> None:
    store.update(openai(api_key=KEY))
    with pytest.raises(KeyRequired) as caught:
        ask(store, {"openai_compatible": {"base_url": "https://evil.example.com/v1"}})
    assert (caught.value.code, caught.value.status) == ("key_required", 422)
    assert store.endpoint("openai_compatible").base_url == URL


def test_a_changed_address_without_a_stored_key_wants_none(store: LlmStore) -> None:
    store.update(openai())
    store.update({"openai_compatible": {"base_url": "https://other.example.com/v1"}})
    assert store.endpoint("openai_compatible").base_url == "https://other.example.com/v1"


def test_a_changed_address_with_a_new_key_or_without_any_is_taken(store: LlmStore) -> None:
    store.update(openai(api_key=KEY))
    store.update({"openai_compatible": {"base_url": "https://b.example.com", "api_key": "new"}})
    assert store.endpoint("openai_compatible").api_key == "new"
    store.update({"openai_compatible": {"base_url": "https://c.example.com", "clear_api_key": True}})
    assert store.endpoint("openai_compatible").api_key == ""


def test_the_same_address_written_otherwise_is_no_change(store: LlmStore) -> None:
    store.update(openai(api_key=KEY))
    store.update({"openai_compatible": {"base_url": f"  {URL}/ "}})
    assert store.endpoint("openai_compatible").api_key == KEY


def test_taking_an_address_away_takes_its_key_away(store: LlmStore) -> None:
    store.update({**openai(api_key=KEY), "ollama": {"base_url": "http://box:11434"}})
    store.update({"openai_compatible": {"base_url": ""}})
    assert store.secrets() == ()


def test_a_profile_left_out_stays(store: LlmStore) -> None:
    store.update(openai(api_key=KEY))
    store.update({"ollama": {"base_url": "http://127.0.0.1:11434"}})
    store.update({"default": {"provider": "ollama", "model": "m"}})
    assert store.view()["openai_compatible"]["ready"]
    assert store.view()["ollama"]["ready"]
    store.update({"default": None})
    assert store.default is None


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "x",
        {"surprise": 1},
        {"provider": "ollama"},
        openai(surprise=1),
        openai(api_key=7),
        openai(api_key="with space"),
        openai(api_key="schlüssel"),
        openai(api_key="k\r\nX: y"),
        openai(api_key="k" * 16_385),
        openai(clear_api_key="yes"),
        {"openai_compatible": {"base_url": 7}},
        {"openai_compatible": {"base_url": "", "api_key": "k"}},
        {"openai_compatible": {"base_url": ""}, "ollama": {"base_url": ""}},
        {"ollama": {"base_url": "http://x", "api_key": "k"}},
        {"default": {"provider": "nobody", "model": "m"}},
        {"default": {"provider": "ollama", "model": ""}},
        {"default": {"provider": "ollama", "model": "m", "x": 1}},
    ],
)
def test_a_bad_body_is_refused_and_changes_nothing(store: LlmStore, path: Path, body: Any) -> None:
    with pytest.raises(BadSetting) as caught:
        store.update(body)
    assert caught.value.status == 422
    assert not path.exists()


@pytest.mark.parametrize("key", ["sk bad", "k" * 16_385, 77_777])
def test_a_refusal_does_not_repeat_the_key(store: LlmStore, key: Any) -> None:
    with pytest.raises(BadSetting) as caught:
        store.update(openai(api_key=key))
    assert str(key) not in caught.value.detail


def test_a_test_body_saves_nothing_and_may_name_its_provider(store: LlmStore, path: Path) -> None:
    found = store.candidate({"provider": "ollama", "ollama": {"base_url": "http://box:11434"}})
    assert [(name, endpoint.base_url) for name, endpoint in found.items()] == [("ollama", "http://box:11434/v1")]
    assert not path.exists()


def test_a_test_of_nothing_is_refused(store: LlmStore) -> None:
    with pytest.raises(BadSetting):
        store.candidate({})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"version": 3}',
        b'{"version": 2, "ollama": 7}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 2, "openai_compatible": {"base_url": "ftp://x"}}',
        b'{"version": 2, "openai_compatible": {"base_url": "http://x", "api_key": "a b"}}',
    ],
)
def test_a_broken_file_is_said_in_words_and_left_alone(store: LlmStore, path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    for ask in (
        store.view,
        lambda: store.update(openai()),
        lambda: store.endpoint("ollama"),
        lambda: store.default,
    ):
        with pytest.raises(SettingsUnreadable) as caught:
            ask()
        assert caught.value.status == 503
        assert str(path.parent) not in caught.value.detail
    assert path.read_bytes() == content
    assert store.secrets() == ()


def test_version_one_is_read_and_written_as_two(store: LlmStore, path: Path) -> None:
    path.parent.mkdir(parents=True)
    profile = {"base_url": URL, "api_key": KEY, "model": "old"}
    path.write_text(json.dumps({"version": 1, "openai_compatible": profile, "ollama": None}))
    assert store.endpoint("openai_compatible").api_key == KEY
    store.update({"ollama": {"base_url": "http://box:11434"}})
    assert json.loads(path.read_text())["version"] == 2


def test_a_change_by_another_process_is_seen(store: LlmStore, path: Path) -> None:
    store.update(openai())
    LlmStore(path, {}).update(openai(api_key=KEY))
    assert store.endpoint("openai_compatible").api_key == KEY
    path.unlink()
    assert not store.view()["configured"]


def test_deepseek_variables_are_taken_over_once(path: Path) -> None:
    environ = {"DEEPSEEK_API_KEY": KEY, "DEEPSEEK_API_BASE": "https://api.deepseek.com/v1/"}
    store = LlmStore(path, environ)
    assert store.endpoint("openai_compatible").base_url == "https://api.deepseek.com/v1"
    assert store.endpoint("openai_compatible").api_key == KEY
    assert json.loads(path.read_text())["openai_compatible"]["api_key"] == KEY
    store.update({"openai_compatible": {"base_url": "https://other.example.com", "api_key": "other"}})
    assert LlmStore(path, environ).endpoint("openai_compatible").api_key == "other"


def test_an_existing_file_is_never_replaced_by_the_deepseek_variables(path: Path) -> None:
    LlmStore(path, {}).update({"ollama": {"base_url": "http://box:11434"}})
    assert not LlmStore(path, {"DEEPSEEK_API_KEY": KEY}).view()["openai_compatible"]["ready"]


def test_a_deepseek_key_without_address_goes_to_deepseek(path: Path) -> None:
    assert (
        LlmStore(path, {"DEEPSEEK_API_KEY": KEY}).endpoint("openai_compatible").base_url
        == "https://api.deepseek.com"
    )


def test_a_deepseek_address_that_is_none_leaves_the_variables_alone(path: Path) -> None:
    store = LlmStore(path, {"DEEPSEEK_API_KEY": KEY, "DEEPSEEK_API_BASE": "not a url"})
    assert not store.view()["configured"]
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_in_words(store: LlmStore, path: Path) -> None:
    path.parent.mkdir(parents=True, mode=0o500)
    with pytest.raises(CashCodeError) as caught:
        store.update(openai())
    assert caught.value.code in ("storage", "read_only")


def test_a_file_where_the_folder_should_be_is_said_in_words(path: Path) -> None:
    path.parent.parent.mkdir(parents=True)
    path.parent.write_text("in the way")
    with pytest.raises(StorageError):
        LlmStore(path, {}).update(openai())


def test_ollama_host_is_the_address_until_one_is_stored(path: Path) -> None:
    store = LlmStore(path, {"OLLAMA_HOST": "box:1234"})
    assert store.view()["ollama"] == {"base_url": "http://box:1234", "ready": True}
    store.update({"ollama": {"base_url": "http://other:11434"}})
    assert store.endpoint("ollama").base_url == "http://other:11434/v1"


def test_ollama_asked_for_by_name_is_the_one_on_this_computer(store: LlmStore) -> None:
    assert store.endpoint("ollama").base_url == "http://127.0.0.1:11434/v1"
    with pytest.raises(LlmNotConfigured):
        store.endpoint("openai_compatible")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("", ""),
        ("  https://api.example.com/v1/  ", "https://api.example.com/v1"),
        ("http://127.0.0.1:1234//", "http://127.0.0.1:1234"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("HTTPS://API.Example.com/V1", "https://api.example.com/V1"),
    ],
)
def test_an_address_is_written_down_in_one_way(text: str, stored: str) -> None:
    assert base_url(text) == stored


@pytest.mark.parametrize(
    "text", ["http://box:11434", "http://box:11434/", "http://box:11434/v1", "http://box:11434/v1/"]
)
def test_ollama_is_written_down_without_v1(text: str) -> None:
    assert base_url(text, ollama=True) == "http://box:11434"


@pytest.mark.parametrize(
    "text",
    [
        "api.example.com",
        "ftp://x",
        "file:///etc/passwd",
        "http://",
        "http://user:pw@x",
        "http://user@x",
        "http://@x",
        "http://x/?a=1",
        "http://x/v1?",
        "http://x/#a",
        "http://x:99999",
        "http://x:0",
        "http://[::1",
        "http://a b",
        "http://x/\nv1",
        "http://x\\y",
        "http://" + "a" * 2048,
    ],
)
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(BadSetting):
        base_url(text)


@given(st.text(max_size=40))
def test_an_accepted_address_is_stable_and_any_other_is_a_bad_setting(text: str) -> None:
    for candidate in (text, f"http://{text}"):
        try:
            stored = base_url(candidate)
        except BadSetting:
            continue
        assert base_url(stored) == stored


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1", True),
        ("http://127.8.9.1:3", True),
        ("http://[::1]:80", True),
        ("http://0.0.0.0:80", True),
        ("http://a.localhost", True),
        ("http://127.0.0.1.evil.com", False),
        ("http://localhost.evil.com", False),
        ("http://192.168.1.5", False),
    ],
)
def test_loopback_addresses_are_known(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("", ""),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":1234", "http://127.0.0.1:1234"),
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        ("https://box", "https://box:443"),
        ("http://box:1234/v1/", "http://box:1234"),
        ("[::1]:1234", "http://[::1]:1234"),
        ("http://user:pw@box", ""),
    ],
)
def test_ollama_host_is_read_by_ollamas_rules(value: str, url: str) -> None:
    assert ollama_from_environment({"OLLAMA_HOST": value}) == url
