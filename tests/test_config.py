from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from cashcode_jupyter.config import Settings, table
from cashcode_jupyter.paths import jupyter_data_dir
from cashcode_jupyter.protocol.errors import BadSetting


def test_overrides_win_over_the_environment_and_that_over_defaults():
    environ = {"CASHCODE_MAX_ITERATIONS": "7", "CASHCODE_MAX_RETRIES": "1"}
    settings = Settings.load(environ, max_iterations=9, max_retries=None)
    assert (settings.max_iterations, settings.max_retries, settings.approval_timeout) == (9, 1, 300.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CASHCODE_MAX_ITERATIONS", "many"),
        ("CASHCODE_MAX_ITERATIONS", "0"),
        ("CASHCODE_COMPAT_LISTENER", "perhaps"),
        ("CASHCODE_LOG_RETENTION_DAYS", "3651"),
        ("WS_PORT", "70000"),
        ("CASHCODE_FILE_LOG_LEVEL", "LOUD"),
        ("CASHCODE_APPROVAL_TIMEOUT", "nan"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_variable(name: str, value: str):
    with pytest.raises(BadSetting, match=name):
        Settings.load({name: value})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CASHCODE_MAX_ITERATIONS", "7.5", "expected a whole number from 1 to 1000"),
        ("CASHCODE_IDLE_TIMEOUT", "soon", "expected a number from 0.1 to 86400"),
    ],
)
def test_what_is_no_number_is_told_which_numbers_are_expected(name: str, value: str, said: str):
    with pytest.raises(BadSetting, match=said):
        Settings.load({name: value})


def test_an_empty_variable_counts_as_not_set():
    assert Settings.load({"CASHCODE_MAX_ITERATIONS": "  "}).max_iterations == 25


def test_every_setting_has_a_variable_and_a_help_text():
    for name, variables, _default, text in table():
        assert variables and text.endswith("."), name
    assert len(table()) == len(fields(Settings))


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"JUPYTER_DATA_DIR": "/somewhere/else"},
        {"XDG_DATA_HOME": "/xdg"},
        {"JUPYTER_PLATFORM_DIRS": "1", "XDG_DATA_HOME": "/xdg"},
    ],
)
def test_the_data_directory_is_jupyters_own(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    from jupyter_core.paths import jupyter_data_dir as theirs

    for name in ("JUPYTER_DATA_DIR", "JUPYTER_PLATFORM_DIRS", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert jupyter_data_dir() == Path(theirs())
