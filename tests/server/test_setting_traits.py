from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from cashcode_jupyter.config import Settings
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.server.extension import CashCodeExtension


def extension(**traits: Any) -> CashCodeExtension:
    return CashCodeExtension(config=Config(CashCodeExtension=traits))


@pytest.mark.parametrize("row", fields(Settings), ids=lambda row: row.name)
def test_every_row_of_the_table_is_a_trait_with_its_help_and_variables(row: Any) -> None:
    trait = CashCodeExtension.class_traits(config=True)[row.name]
    assert row.metadata["help"] in trait.help
    assert all(variable in trait.help for variable in row.metadata["env"])


def test_a_trait_wins_over_the_environment_and_that_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASHCODE_MAX_ITERATIONS", "7")
    monkeypatch.setenv("CASHCODE_MAX_RETRIES", "2")
    settings = extension(max_iterations=9).load_settings()
    assert (settings.max_iterations, settings.max_retries) == (9, 2)
    assert settings.idle_timeout == Settings().idle_timeout


def test_a_trait_that_turns_something_off_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASHCODE_COMPAT_LISTENER", "1")
    assert extension(compat_listener=False).load_settings().compat_listener is False


@pytest.mark.parametrize(
    ("traits", "name", "value"),
    [
        ({"data_dir": "~/cc"}, "data_dir", Path("~/cc").expanduser()),
        ({"workspace": Path("/w")}, "workspace", Path("/w")),
        ({"approval_timeout": "12.5"}, "approval_timeout", 12.5),
        ({"allowed_origins": ["http://a", "http://b"]}, "allowed_origins", ("http://a", "http://b")),
        ({"allowed_origins": "http://a, http://b"}, "allowed_origins", ("http://a", "http://b")),
        ({"file_log_level": "info"}, "file_log_level", "INFO"),
    ],
)
def test_traits_take_what_a_config_file_or_the_command_line_gives(
    traits: dict[str, Any], name: str, value: Any
) -> None:
    assert getattr(extension(**traits).load_settings(), name) == value


@pytest.mark.parametrize(
    "traits",
    [{"max_iterations": 0}, {"ws_port": 70000}, {"compat_listener": "perhaps"}, {"console_log_level": "LOUD"}],
)
def test_a_value_that_cannot_be_used_is_refused_and_named(traits: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match=f"CashCodeExtension.{next(iter(traits))}"):
        extension(**traits).load_settings()


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASHCODE_MAX_RETRIES", "many")
    with pytest.raises(BadSetting, match="CASHCODE_MAX_RETRIES"):
        extension().load_settings()
