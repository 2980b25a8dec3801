from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cashcode_jupyter.storage.locks import Lease
from cashcode_jupyter.testing.fixtures import CashcodeHome

from .conftest import Done, Program

KEY = "sk-doctor-must-not-show-this"


def status(done: Done, name: str) -> str:
    [check] = [record for record in done.records() if record["name"] == name]
    return check["status"]


def check(done: Done, name: str) -> str:
    [found] = [record for record in done.records() if record["name"] == name]
    return f"{found['found']} {found.get('advice', '')}"


def test_a_healthy_installation_is_said_to_work(cashcode: Program) -> None:
    done = cashcode("doctor")
    assert done.code == 0
    assert "FAIL" not in done.out
    assert "CashCode can work" in done.err


def test_the_configured_provider_is_asked(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    done = cashcode("doctor", "--json")
    assert status(done, "openai_compatible") == "ok"
    assert cashcode_home.model.visits


def test_a_provider_that_cannot_be_reached_is_a_failure_without_its_key(
    cashcode: Program, cashcode_home: CashcodeHome
) -> None:
    stored = json.loads(cashcode_home.llm_settings.read_text())
    stored["openai_compatible"] = {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY}
    cashcode_home.llm_settings.write_text(json.dumps(stored))
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert status(done, "openai_compatible") == "fail"
    assert KEY not in done.out + done.err


def test_without_a_model_nothing_is_asked_and_the_ways_are_named(
    without_model: Program, cashcode_home: CashcodeHome
) -> None:
    done = without_model("doctor", "--json")
    assert done.code == 0
    assert status(done, "model") == "warn"
    assert "cashcode starter" in check(done, "model")
    assert cashcode_home.model.connections == 0


def test_settings_that_others_can_read_are_a_failure(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    cashcode_home.llm_settings.chmod(0o644)
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert "chmod 600" in check(done, "llm.json")


def test_broken_settings_are_a_failure_in_words(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    cashcode_home.llm_settings.write_text('{"version": 2, "api_key": "' + KEY)
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert status(done, "models") == "fail"
    assert KEY not in done.out + done.err


def test_a_data_dir_that_cannot_be_made_is_a_failure(cashcode: Program, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cashcode.environ["CASHCODE_DATA_DIR"] = str(tmp_path / "file" / "data")
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert "CASHCODE_DATA_DIR" in check(done, "data")


def test_the_doctor_makes_no_folder(cashcode: Program, tmp_path: Path) -> None:
    cashcode.environ["CASHCODE_DATA_DIR"] = str(tmp_path / "not yet")
    done = cashcode("doctor", "--json")
    assert done.code == 0
    assert "first use" in check(done, "data")
    assert not (tmp_path / "not yet").exists()


def test_a_bad_setting_is_a_failure_in_words(cashcode: Program) -> None:
    cashcode.environ["WS_PORT"] = "high"
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert "WS_PORT" in check(done, "settings")


def test_a_switched_off_extension_is_a_failure_with_the_command(cashcode: Program, tmp_path: Path) -> None:
    folder = tmp_path / "jupyter" / "jupyter_server_config.d"
    folder.mkdir(parents=True)
    off = {"ServerApp": {"jpserver_extensions": {"cashcode_jupyter": False}}}
    (folder / "off.json").write_text(json.dumps(off))
    cashcode.environ["JUPYTER_CONFIG_PATH"] = str(tmp_path / "jupyter")
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert "jupyter server extension enable cashcode_jupyter" in check(done, "extension")


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_a_lease_of_a_dead_process_is_told(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    lease = cashcode_home.data / "memory" / ".leases" / "c.lease"
    if (child := os.fork()) == 0:
        Lease.acquire(lease)
        os._exit(0)
    os.waitpid(child, 0)
    assert status(cashcode("doctor", "--json"), "chats") == "warn"


def test_a_file_that_is_no_model_any_more_fails(cashcode: Program, cashcode_home: CashcodeHome) -> None:
    from tests.llm.gguf_files import write

    assert cashcode("starter", str(write(cashcode_home.workspace / "m.gguf"))).code == 0
    done = cashcode("doctor", "--json")
    assert done.code == 1
    assert "could not be loaded" in check(done, "starter")
