"""pytest fixtures around the scripted model: `pytest_plugins = ["cashcode_jupyter.testing.fixtures"]`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cashcode_jupyter.testing.model import ScriptedModel


@dataclass(frozen=True)
class CashcodeHome:
    """The folders of one CashCode whose default model is the scripted one."""

    data: Path
    config: Path
    workspace: Path
    model: ScriptedModel

    @property
    def llm_settings(self) -> Path:
        return self.config / "settings" / "llm.json"


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A scripted model of this test's own."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def strict_model() -> Iterator[ScriptedModel]:
    """A scripted model that refuses what any strict server would; `strict_model.refused` says what it refused."""
    with ScriptedModel(strict=True) as model:
        yield model


@pytest.fixture
def cashcode_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted_model: ScriptedModel) -> CashcodeHome:
    """Empty data, config and workspace folders, the environment that names them, settings for the model."""
    for name in list(os.environ):
        # What a developer has set for the real product must not reach a test.
        if name.startswith(("CASHCODE_", "DEEPSEEK_API_", "OPENAI_")):
            monkeypatch.delenv(name)
    home = CashcodeHome(tmp_path / "data", tmp_path / "config", tmp_path / "workspace", scripted_model)
    monkeypatch.setenv("CASHCODE_LANG", "en")
    for name, folder in (
        ("CASHCODE_DATA_DIR", home.data),
        ("CASHCODE_CONFIG_DIR", home.config),
        ("WORKSPACE_DIR", home.workspace),
    ):
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(name, str(folder))
    home.llm_settings.parent.mkdir(mode=0o700)
    home.llm_settings.write_text(
        json.dumps(
            {
                "version": 2,
                "openai_compatible": {"base_url": scripted_model.url, "api_key": ""},
                "ollama": {"base_url": ""},
                "default": {"provider": "openai_compatible", "model": "mock"},
            }
        )
    )
    home.llm_settings.chmod(0o600)
    return home
