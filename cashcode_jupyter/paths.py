"""Where things live on disk. Nothing here creates a file; whoever writes creates its folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


def jupyter_data_dir() -> Path:
    """The user's Jupyter data directory, by the same rules as `jupyter_core.paths.jupyter_data_dir`.

    Written again here because the core knows no Jupyter; a test holds the two together.
    """
    if given := os.environ.get("JUPYTER_DATA_DIR"):
        return Path(given).expanduser()
    if os.environ.get("JUPYTER_PLATFORM_DIRS", "").lower() in ("1", "true", "yes", "on"):
        return _platform_data_dir() / ("Jupyter" if sys.platform in ("darwin", "win32") else "jupyter")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Jupyter"
    if sys.platform == "win32":
        appdata = os.environ.get("APPDATA")
        return Path(appdata) / "jupyter" if appdata else Path.home() / ".jupyter" / "data"
    return _platform_data_dir() / "jupyter"


def _platform_data_dir() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def default_config_dir() -> Path:
    """The user's private configuration directory, as in the seed: `CashCode` or `cashcode` by platform."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.environ.get("APPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / "CashCode"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "CashCode"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "cashcode"


@dataclass(frozen=True)
class Paths:
    """The data directory (`CASHCODE_DATA_DIR`) and the private one (`CASHCODE_CONFIG_DIR`), and what is in them."""

    data: Path
    config: Path

    @property
    def memory(self) -> Path:
        return self.data / "memory"

    @property
    def soul(self) -> Path:
        return self.memory / "SOUL.md"

    @property
    def long_term(self) -> Path:
        return self.memory / "MEMORY.md"

    def chat(self, chat_id: str) -> Path:
        """The folder of a chat; `chat_id` is already checked against the protocol's grammar."""
        return self.memory / chat_id

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def approvals(self) -> Path:
        return self.data / "approvals.json"

    @property
    def llm_settings(self) -> Path:
        return self.config / "settings" / "llm.json"
