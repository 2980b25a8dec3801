from __future__ import annotations

import json

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.fixtures import CashcodeHome

from .conftest import Program

KEY = "sk-connect-0123456789"


def stored(home: CashcodeHome) -> dict:
    return json.loads(home.llm_settings.read_text())


def test_an_endpoint_is_tested_and_kept_with_the_key_from_standard_input(
    cashcode: Program, cashcode_home: CashcodeHome
):
    with ScriptedModel(api_key=KEY) as model:
        done = cashcode("connect", f"{model.url}/", "--model", "mock", given=f"{KEY}\n")
        assert done.code == 0, done.err
        assert stored(cashcode_home)["openai_compatible"] == {"base_url": model.url, "api_key": KEY}
        assert stored(cashcode_home)["default"] == {"provider": "openai_compatible", "model": "mock"}
    assert KEY not in done.out + done.err


def test_a_wrong_key_is_said_and_nothing_is_kept(cashcode: Program, cashcode_home: CashcodeHome):
    before = stored(cashcode_home)
    with ScriptedModel(api_key=KEY) as model:
        done = cashcode("connect", model.url, given="sk-wrong-0123456789\n")
    assert done.code == 1 and done.err
    assert stored(cashcode_home) == before


def test_ollama_lists_its_models_when_none_was_chosen(cashcode: Program, cashcode_home: CashcodeHome):
    with ScriptedModel(models=("qwen3:8b", "llama3.2:3b")) as model:
        done = cashcode("connect", "ollama", model.origin)
        assert stored(cashcode_home)["ollama"] == {"base_url": model.origin}
    assert done.code == 0, done.err
    assert "qwen3:8b" in done.out and "llama3.2:3b" in done.out


def test_an_address_that_is_none_is_refused(cashcode: Program):
    done = cashcode("connect", "not a url", given="\n")
    assert done.code == 1 and done.err
