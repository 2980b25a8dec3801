from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.testing.client import ask


def test_each_test_has_a_fresh_log(scripted_model: ScriptedModel) -> None:
    assert scripted_model.requests == []
    assert ask(scripted_model, "hi").status == 200


def test_the_home_points_at_the_scripted_model(cashcode_home: CashcodeHome, scripted_model: ScriptedModel) -> None:
    settings = json.loads(cashcode_home.llm_settings.read_text())
    assert settings["openai_compatible"]["base_url"] == scripted_model.url
    assert settings["default"] == {"provider": "openai_compatible", "model": "mock"}
    assert stat.S_IMODE(cashcode_home.llm_settings.stat().st_mode) == 0o600
    assert os.environ["CASHCODE_DATA_DIR"] == str(cashcode_home.data)
    assert os.environ["CASHCODE_CONFIG_DIR"] == str(cashcode_home.config)
    assert os.environ["WORKSPACE_DIR"] == str(cashcode_home.workspace)


@pytest.fixture
def a_key_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    monkeypatch.setenv("CASHCODE_MAX_ITERATIONS", "1")


@pytest.mark.usefixtures("a_key_of_the_developer")
def test_what_the_developer_has_set_does_not_reach_a_test(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("cashcode_home")
    assert "DEEPSEEK_API_KEY" not in os.environ
    assert "CASHCODE_MAX_ITERATIONS" not in os.environ


def test_importing_the_model_imports_neither_pytest_nor_a_client() -> None:
    code = (
        "import sys, cashcode_jupyter.testing; "
        "print(sorted({'pytest', 'pydantic', 'openai', 'httpx2', 'tornado'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
