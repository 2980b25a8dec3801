"""The private `llm.json`: addresses, the API key, the default model.

One rule: a key goes in and never comes out again except to the address it was given for. The file is the seed's
(version 2, version 1 is read), plus `default`.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.addresses import OLLAMA, base_url, ollama_from_environment
from cashcode_jupyter.llm.settings_body import SettingsBody, is_sendable, parse_body, parse_file
from cashcode_jupyter.protocol.errors import BadSetting, CashCodeError, KeyRequired, LlmNotConfigured, StorageError
from cashcode_jupyter.protocol.events import ModelChoice, Provider
from cashcode_jupyter.storage import atomic

VERSION = 2
DEEPSEEK = "https://api.deepseek.com"
LOG = logs.log("llm")


class SettingsUnreadable(StorageError):
    """`llm.json` is there and cannot be used; it is left as it is."""

    status, retryable = 503, False


class LocalModel(Protocol):
    """What is shown of a registered local model file."""

    @property
    def model(self) -> str: ...


@dataclass(frozen=True)
class Endpoint:
    """Where a provider's API is (for Ollama with `/v1`), and the key for it, empty when there is none."""

    base_url: str
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True)
class LlmSettings:
    """What `llm.json` holds. `ollama_url` is without `/v1`."""

    url: str = ""
    api_key: str = field(default="", repr=False)
    ollama_url: str = ""
    default: ModelChoice | None = None

    def as_file(self) -> bytes:
        value: dict[str, Any] = {
            "version": VERSION,
            "openai_compatible": {"base_url": self.url, "api_key": self.api_key},
            "ollama": {"base_url": self.ollama_url},
        }
        if self.default:
            value["default"] = self.default.model_dump()
        return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


class LlmStore:
    """Reads and writes `llm.json`, from any thread. What another process wrote is seen at the next call.

    The first call without a file takes over `DEEPSEEK_API_KEY` and `DEEPSEEK_API_BASE` once, by writing the file.
    Every method raises `SettingsUnreadable` for a broken file.
    """

    def __init__(self, path: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._path = path
        self._environ = environ
        self._lock = threading.RLock()
        self._read: tuple[tuple[int, int, int] | None, LlmSettings] | None = None

    def view(self, starter: LocalModel | None = None) -> dict[str, Any]:
        """The body of `GET settings/llm`: never a key."""
        stored = self.load()
        ollama = self._ollama(stored)
        return {
            "configured": bool(stored.url or ollama or starter),
            "openai_compatible": {
                "base_url": stored.url,
                "ready": bool(stored.url),
                "api_key_configured": bool(stored.api_key),
            },
            "ollama": {"base_url": ollama, "ready": bool(ollama)},
            "starter": {"ready": starter is not None, "model": starter.model if starter else None},
            "default": stored.default.model_dump() if stored.default else None,
        }

    def update(self, body: Any) -> None:
        """Store the body of `PUT settings/llm`. `BadSetting` or `KeyRequired` (422) and nothing is changed."""
        with self._lock:
            parsed = parse_body(body)
            changed = self._merge(parsed)
            if (parsed.openai_compatible or parsed.ollama) and not (changed.url or self._ollama(changed)):
                raise BadSetting(_("At least one of the base URL and the Ollama address is needed."))
            self._write(changed)
        logs.event(LOG, logging.INFO, "llm.settings_saved", url=bool(changed.url), ollama=bool(changed.ollama_url))

    def candidate(self, body: Any) -> dict[Provider, Endpoint]:
        """The endpoints that a body of `POST settings/llm/test` asks to try; nothing is stored.

        The named `provider`, else the profiles in the body, else what is stored.
        """
        parsed = parse_body(body, testing=True)
        with self._lock:
            merged = self._merge(parsed)
        profiles: tuple[Provider, ...] = ("openai_compatible", "ollama")
        given: list[Provider] = [name for name in profiles if getattr(parsed, name)]
        wanted: list[Provider] = [parsed.provider] if parsed.provider else given or list(profiles)
        ready: dict[Provider, Endpoint] = {}
        for name in wanted:
            if endpoint := self._endpoint(name, merged):
                ready[name] = endpoint
        if not ready:
            raise BadSetting(_("There is no address to test. Enter a base URL or an Ollama address first."))
        return ready

    def endpoint(self, provider: Provider) -> Endpoint:
        """Where the provider's API is; `LlmNotConfigured` without an address. The starter's is its own affair."""
        found = self._endpoint(provider, self.load())
        if found is None and provider == "ollama":
            return Endpoint(OLLAMA + "/v1")  # whoever asks for Ollama by name means the one on this computer
        if found is None:
            raise LlmNotConfigured(_("No base URL is set for this provider. Enter one in the settings."))
        return found

    def ready(self) -> tuple[Provider, ...]:
        """The providers that have an address."""
        stored = self.load()
        names: tuple[Provider, ...] = ("openai_compatible", "ollama")
        return tuple(name for name in names if self._endpoint(name, stored))

    @property
    def default(self) -> ModelChoice | None:
        return self.load().default

    def secrets(self) -> tuple[str, ...]:
        """Every stored key, for redaction only."""
        try:
            stored = self.load()
        except CashCodeError:
            return ()
        return (stored.api_key,) if stored.api_key else ()

    def load(self) -> LlmSettings:
        """What is stored; the file is read again when it changed."""
        with self._lock:
            stamp = self._stamp()
            if self._read is None or self._read[0] != stamp:
                if stamp is None:
                    return self._without_file()
                self._read = stamp, self._parse()
            return self._read[1]

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable() from error
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _parse(self) -> LlmSettings:
        try:
            stored = parse_file(json.loads(self._path.read_bytes()))
            return LlmSettings(
                url=base_url(stored.openai_compatible.base_url),
                api_key=stored.openai_compatible.api_key.strip(),
                ollama_url=base_url(stored.ollama.base_url, ollama=True),
                default=stored.default,
            )
        except (OSError, ValueError, RecursionError, BadSetting) as error:
            raise self._unreadable() from error

    def _unreadable(self) -> SettingsUnreadable:
        return SettingsUnreadable(
            _(
                "The model settings file (settings/llm.json in CASHCODE_CONFIG_DIR) cannot be read. "
                "It was left as it is: repair it, or move it away and enter the settings again."
            )
        )

    def _without_file(self) -> LlmSettings:
        key = self._environ.get("DEEPSEEK_API_KEY", "").strip()
        if self._read is not None and self._read[0] is None:
            return self._read[1]
        if not key or not is_sendable(key):
            self._read = None, LlmSettings()
            return self._read[1]
        try:
            address = base_url(self._environ.get("DEEPSEEK_API_BASE", "").strip() or DEEPSEEK)
        except BadSetting:
            self._read = None, LlmSettings()  # the key is for another address, which we cannot tell
            return self._read[1]
        migrated = LlmSettings(url=address, api_key=key)
        try:
            self._write(migrated)
        except CashCodeError as error:
            logs.event(LOG, logging.WARNING, "llm.settings_not_migrated", code=error.code)
            self._read = None, migrated
        else:
            logs.event(LOG, logging.INFO, "llm.settings_migrated")
        return migrated

    def _write(self, changed: LlmSettings) -> None:
        with atomic.storage_errors(_("the model settings")):
            atomic.replace(self._path, changed.as_file(), private=True)
        self._read = self._stamp(), changed

    def _merge(self, body: SettingsBody) -> LlmSettings:
        merged = self.load()
        if profile := body.openai_compatible:
            url = merged.url if profile.base_url is None else base_url(profile.base_url)
            key = (profile.api_key or "").strip()
            if key and profile.clear_api_key:
                raise BadSetting(_("A new key and the removal of the key cannot be asked for together."))
            if key and not url:
                raise BadSetting(_("A key needs the base URL it is for. Enter both."))
            if not key and not profile.clear_api_key and merged.api_key and url:
                if url != merged.url:
                    raise KeyRequired(_("The base URL changed, so the API key has to be entered again."))
                key = merged.api_key
            merged = replace(merged, url=url, api_key=key)
        if body.ollama and body.ollama.base_url is not None:
            merged = replace(merged, ollama_url=base_url(body.ollama.base_url, ollama=True))
        if "default" in body.model_fields_set:
            chosen = body.default
            default = ModelChoice(provider=chosen.provider, model=chosen.model) if chosen else None
            merged = replace(merged, default=default)
        return merged

    def _ollama(self, stored: LlmSettings) -> str:
        return stored.ollama_url or ollama_from_environment(self._environ)

    def _endpoint(self, provider: Provider, stored: LlmSettings) -> Endpoint | None:
        if provider == "openai_compatible":
            return Endpoint(stored.url, stored.api_key) if stored.url else None
        address = self._ollama(stored)
        return Endpoint(address + "/v1") if provider == "ollama" and address else None
