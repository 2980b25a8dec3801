"""The settings table as traits: `--CashCodeExtension.NAME`, with the table's default, variables and help.

A trait that nobody set is None, so that the environment and then the default speak. Values are checked when the
settings are read, in one place for all sources: a `TraitError` would make Jupyter go on with half a configuration.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from traitlets import HasTraits, TraitType

from cashcode_jupyter.config import Settings, table
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting


class Setting(TraitType[Any, Any]):
    """One setting as it was given; `shown` is the default that the help names."""

    def __init__(self, shown: str, help: str) -> None:
        super().__init__(default_value=None, allow_none=True, help=help)
        self._shown = shown

    def default_value_repr(self) -> str:
        return self._shown or "see above"


def setting_traits() -> dict[str, TraitType[Any, Any]]:
    """A trait for each row of the table."""
    return {
        name: Setting(default, f"{help} Environment: {', '.join(variables)}.").tag(config=True)
        for name, variables, default, help in table()
    }


def setting_aliases(app: str) -> dict[str, str]:
    """`--data-dir` and so on, for each setting of the class named `app`."""
    return {row.name.replace("_", "-"): f"{app}.{row.name}" for row in fields(Settings)}


def given_settings(app: HasTraits) -> dict[str, Any]:
    """The settings that `app`'s traits set; `BadSetting` names one that cannot be used."""
    given = {}
    for row in fields(Settings):
        value = getattr(app, row.name)
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        try:
            given[row.name] = row.metadata["parse"](text)
        except ValueError as error:
            name = f"{type(app).__name__}.{row.name}"
            raise BadSetting(_("{name} cannot be used: {reason}").format(name=name, reason=error)) from None
    return given
