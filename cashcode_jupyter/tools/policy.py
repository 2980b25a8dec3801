"""What is allowed, asked about or denied, for each risk and each tool, kept in `approvals.json`.

Rule: deny wins. A file that cannot be read makes every call ask, as it may have held a denial.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cashcode_jupyter.i18n import _
from cashcode_jupyter.logs import event, log
from cashcode_jupyter.protocol.actions import first_problem
from cashcode_jupyter.protocol.errors import BadSetting, StorageError
from cashcode_jupyter.tools.base import ToolSpec

Decision = Literal["allow", "ask", "deny"]
LOG = log("approval")


class RiskRules(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    read: Decision = "allow"
    write: Decision = "ask"
    execute: Decision = "ask"
    network: Decision = "allow"
    memory: Decision = "allow"


class Rules(BaseModel):
    """The file and the body of `settings/approvals`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    risks: RiskRules = RiskRules()
    tools: dict[str, Decision] = Field(default={}, max_length=1000)


class ApprovalPolicy:
    """The rules on disk; a change by another process counts from the next call on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rules = Rules()
        self._seen: tuple[int, int, int] | None = None
        self._unreadable = ""

    def decide(self, spec: ToolSpec) -> Decision:
        """What to do with a call of this tool: its own rule, else that of its risk; a denial by either wins."""
        self._refresh()
        if self._unreadable:
            return "ask"
        by_risk: Decision = getattr(self._rules.risks, spec.risk)
        by_name = self._rules.tools.get(spec.name, by_risk)
        return "deny" if "deny" in (by_risk, by_name) else by_name

    def view(self) -> dict[str, Any]:
        """`{risks: {read, write, execute, network, memory}, tools: {NAME}}`; raises `StorageError`."""
        self._refresh()
        if self._unreadable:
            raise StorageError(
                _("The approval rules cannot be read ({reason}). Save them anew or delete approvals.json.").format(
                    reason=self._unreadable
                )
            )
        return self._rules.model_dump(mode="json")

    def update(self, body: object) -> dict[str, Any]:
        """Take over a PUT body and return the view: risks left out stay, `tools` when given replaces all of them.

        Raises `BadSetting` (422) for unknown fields or values and `StorageError` when it cannot be written.
        """
        from cashcode_jupyter.storage.atomic import replace, storage_errors

        self._refresh()
        try:
            wanted = Rules.model_validate(body)
        except ValidationError as error:
            raise BadSetting(first_problem(error)) from None
        risks = self._rules.risks.model_copy(update=wanted.risks.model_dump(exclude_unset=True))
        tools = wanted.tools if "tools" in wanted.model_fields_set else self._rules.tools
        rules = Rules(risks=risks, tools=tools)
        text = json.dumps(rules.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
        with storage_errors(_("the approval rules")):
            replace(self._path, text.encode())
        self._rules, self._unreadable, self._seen = rules, "", self._stamp()
        return self.view()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _refresh(self) -> None:
        stamp = None
        try:
            stamp = self._stamp()
            if stamp == self._seen:
                return
            rules = Rules.model_validate_json(self._path.read_bytes()) if stamp else Rules()
        except OSError as error:
            self._fail(error.strerror or type(error).__name__)
            return
        except ValidationError as error:
            self._seen = stamp
            self._fail(first_problem(error))
            return
        self._rules, self._seen, self._unreadable = rules, stamp, ""

    def _fail(self, reason: str) -> None:
        if reason != self._unreadable:
            event(LOG, logging.WARNING, "approval.rules_unreadable", reason=reason)
        self._unreadable = reason
