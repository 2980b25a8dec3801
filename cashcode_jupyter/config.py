"""Every setting with its default, its environment variables and its help text.

One table serves all doors: the server extension makes its traits from it, the docs their table, and
`Settings.load` reads the environment. Secrets are not settings; they live in `llm/settings.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.paths import Paths, default_config_dir, jupyter_data_dir
from cashcode_jupyter.protocol.errors import BadSetting

TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _flag(text: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ValueError(_("expected one of {values}").format(values=", ".join((*TRUE, *FALSE[:-1]))))


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _number(kind: type[int] | type[float], low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        wanted = (
            _("expected a whole number from {low} to {high}")
            if kind is int
            else _("expected a number from {low} to {high}")
        ).format(low=low, high=high)
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(wanted) from None
        if not low <= value <= high:
            raise ValueError(wanted)
        return value

    return parse


def _level(text: str) -> str:
    if text.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        raise ValueError(_("expected DEBUG, INFO, WARNING, ERROR or CRITICAL"))
    return text.upper()


def setting(default: Any, parse: Callable[[str], Any], help: str, *env: str) -> Any:
    """One row of the table; `env` are the variables that set it, the first that is set wins."""
    metadata = {"parse": parse, "help": help, "env": env}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one process. Times are in seconds, sizes in bytes."""

    data_dir: Path = setting(
        lambda: jupyter_data_dir() / "cashcode",
        _path,
        "Where chats, memory and logs are kept. Default: `cashcode` in the Jupyter data directory.",
        "CASHCODE_DATA_DIR",
    )
    config_dir: Path = setting(
        default_config_dir,
        _path,
        "Where the private model settings (with keys) are kept. Default: the platform's config directory.",
        "CASHCODE_CONFIG_DIR",
    )
    workspace: Path | None = setting(
        None,
        _path,
        "The folder that file tools work in. Default: the Jupyter server's root, else the working directory.",
        "WORKSPACE_DIR",
    )
    max_iterations: int = setting(
        25,
        _number(int, 1, 1000),
        "Model requests in one turn; after them the model must answer without tools.",
        "CASHCODE_MAX_ITERATIONS",
    )
    approval_timeout: float = setting(
        300.0,
        _number(float, 1, 86400),
        "Seconds to wait for an approval before the call counts as denied.",
        "CASHCODE_APPROVAL_TIMEOUT",
    )
    connect_timeout: float = setting(
        5.0, _number(float, 0.1, 600), "Seconds to wait for a connection to the model.", "CASHCODE_CONNECT_TIMEOUT"
    )
    first_token_timeout: float = setting(
        300.0,
        _number(float, 0.1, 86400),
        "Seconds to wait for the first byte of an answer; local models need long to read a long prompt.",
        "CASHCODE_FIRST_TOKEN_TIMEOUT",
    )
    idle_timeout: float = setting(
        60.0,
        _number(float, 0.1, 86400),
        "Seconds of silence within a streamed answer before it counts as cut.",
        "CASHCODE_IDLE_TIMEOUT",
    )
    max_retries: int = setting(
        3,
        _number(int, 0, 20),
        "How often a model request is tried again, only before its first visible byte.",
        "CASHCODE_MAX_RETRIES",
    )
    log_dir: Path | None = setting(
        None, _path, "Where `cashcode.log` is written. Default: `logs` in the data directory.", "CASHCODE_LOG_DIR"
    )
    file_log_level: str = setting("DEBUG", _level, "What the log file keeps.", "CASHCODE_FILE_LOG_LEVEL")
    console_log_level: str = setting("INFO", _level, "What the console shows.", "CASHCODE_CONSOLE_LOG_LEVEL")
    log_retention_days: int = setting(
        10, _number(int, 1, 3650), "Days of logs to keep, today included.", "CASHCODE_LOG_RETENTION_DAYS"
    )
    compat_listener: bool = setting(
        False,
        _flag,
        "Also serve clients of the original CashCode server on loopback, at ws://127.0.0.1:8765 and "
        "http://127.0.0.1:8000/api.",
        "CASHCODE_COMPAT_LISTENER",
    )
    ws_port: int = setting(
        8765, _number(int, 0, 65535), "Port of the compatibility WebSocket; 0 takes a free one.", "WS_PORT"
    )
    http_port: int = setting(
        8000,
        _number(int, 0, 65535),
        "Port of the compatibility HTTP API; 0 takes a free one.",
        "CASHCODE_HTTP_PORT",
    )
    allowed_origins: tuple[str, ...] = setting(
        ("http://127.0.0.1:5173", "http://localhost:5173"),
        _names,
        "Origins that may use the compatibility listener, separated by commas.",
        "CASHCODE_ALLOWED_ORIGINS",
    )

    @property
    def paths(self) -> Paths:
        return Paths(data=self.data_dir, config=self.config_dir)

    @property
    def logs(self) -> Path:
        return self.log_dir or self.paths.logs

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ, **overrides: Any) -> Settings:
        """Defaults, then the environment, then `overrides` that are not None; `BadSetting` names a bad one."""
        values: dict[str, Any] = {}
        for row in fields(cls):
            for name in row.metadata["env"]:
                if (text := environ.get(name, "").strip()) and row.name not in values:
                    values[row.name] = _parse(row.metadata["parse"], text, name)
        return cls(**values | {name: value for name, value in overrides.items() if value is not None})


def _parse(parse: Callable[[str], Any], text: str, name: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise BadSetting(_("{name} cannot be used: {reason}").format(name=name, reason=error)) from None


def table() -> list[tuple[str, tuple[str, ...], str, str]]:
    """`(name, environment variables, default, help)` of each setting, for help texts and the docs."""
    shown = []
    for row in fields(Settings):
        default = row.default if isinstance(row.default, (str, int, float, tuple)) else ""
        if isinstance(default, tuple):
            default = ",".join(default)
        shown.append((row.name, row.metadata["env"], str(default), row.metadata["help"]))
    return shown
