"""CashCode: the one place that knows every part, builds them and holds them together.

Making one is cheap and touches nothing; `start` opens the log. The model layer and its libraries load with the
first message.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cashcode_jupyter import __version__, logs
from cashcode_jupyter.agent.bus import Bus
from cashcode_jupyter.agent.client import Client
from cashcode_jupyter.agent.orchestrator import Orchestrator
from cashcode_jupyter.agent.parts import Parts
from cashcode_jupyter.agent.schemas import Schemas
from cashcode_jupyter.config import Settings
from cashcode_jupyter.llm.client import Models
from cashcode_jupyter.llm.settings import LlmStore
from cashcode_jupyter.llm.starter import StarterModels
from cashcode_jupyter.memory.export import Export, export_chat
from cashcode_jupyter.memory.longterm import LongTerm, Persona
from cashcode_jupyter.memory.recall import Found, Recall
from cashcode_jupyter.memory.recall_text import RecallText
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.protocol.events import ApprovalRequest, ApprovalResolved, Risk
from cashcode_jupyter.security.jail import Jail
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.storage.claim import Claim
from cashcode_jupyter.tools.approval import (
    AllowedRisks,
    ApprovalAnswer,
    ApprovalAsk,
    ApprovalToolset,
    Approver,
    Unattended,
)
from cashcode_jupyter.tools.base import Toolset
from cashcode_jupyter.tools.builtin.files import FileTools
from cashcode_jupyter.tools.builtin.memory import MemoryTools
from cashcode_jupyter.tools.builtin.recall import RecallTools
from cashcode_jupyter.tools.builtin.search import SearchTools
from cashcode_jupyter.tools.policy import ApprovalPolicy
from cashcode_jupyter.tools.questions import Questions
from cashcode_jupyter.tools.registry import CombinedToolset
from cashcode_jupyter.tools.results import ShapedToolset
from cashcode_jupyter.tools.timeouts import TimedToolset

LOG = logs.log("app")


class CashCode:
    """The agent of one process. A door makes a connection with `connect`.

    `attended` says whether a person can be asked for approvals; `approve` are risks that are allowed without
    asking. `workspace` is where file tools work when the settings name no other folder. `resident` is a core that
    stays, in a server: it claims the data directory and tells when another one has it. `tools` replace the built-in
    ones.
    """

    version = __version__

    def __init__(
        self,
        settings: Settings,
        *,
        workspace: Path | None = None,
        console: bool = True,
        attended: bool = True,
        approve: Collection[Risk] = (),
        resident: bool = False,
        tools: Toolset | None = None,
    ) -> None:
        self.settings = settings
        self.workspace = (settings.workspace or workspace or Path.cwd()).resolve()
        paths = settings.paths
        self.bus = Bus()
        self.llm_store = LlmStore(paths.llm_settings)
        self.starter = StarterModels(paths)
        self.models = Models(self.llm_store, settings, self.starter)
        self.memory = LongTerm(paths)
        self.persona = Persona(paths)
        self.sessions = Sessions(paths)
        self.redactor = Redactor()
        self.recall = Recall(paths, self.redactor)
        self.approvals = ApprovalPolicy(paths.approvals)
        self.questions = Questions(self._asked, self._resolved)
        approver: Approver = self.questions if attended else Unattended()
        self._approval = ApprovalToolset(
            TimedToolset(tools or self._builtin_tools()),
            self.approvals,
            AllowedRisks(approve, approver) if approve else approver,
            timeout=settings.approval_timeout,
        )
        self.orchestrator = Orchestrator(
            Parts(
                bus=self.bus,
                models=self.models,
                tools=self._shaped(self._approval),
                schemas=Schemas(),
                memory=self.memory,
                persona=self.persona,
                redactor=self.redactor,
                learn_secrets=self._learn_secrets,
                workspace=self.workspace,
                max_iterations=settings.max_iterations,
            ),
            self.sessions,
        )
        self._console = console
        self._close_log: Callable[[], None] = lambda: None
        self._known_secrets: tuple[str, ...] = ()
        self._claim = Claim(paths.data / ".claims" / "server.json") if resident else None

    def _builtin_tools(self) -> Toolset:
        return CombinedToolset(
            [
                MemoryTools(self.memory.remember),
                RecallTools(RecallText(self.recall)),
                FileTools(Jail),
                SearchTools(Jail),
            ]
        )

    def _shaped(self, tools: Toolset) -> Toolset:
        return ShapedToolset(tools, redact=self.redactor)

    async def start(self) -> None:
        """Open the log. Raises `StorageError` in words when the data directory cannot be written."""
        self._close_log = logs.start(self.settings, self.redactor, console=self._console)
        if self._claim is not None:
            await self._claim.take()
            if self.shares_data_dir:
                logs.event(LOG, logging.WARNING, "core.data_dir_is_shared")
        logs.event(LOG, logging.INFO, "core.started", version=self.version)

    async def stop(self) -> None:
        """End turns, model connections and child processes; what waits stays on disk for the next start."""
        await self.orchestrator.aclose()
        await self.models.aclose()
        await self.starter.aclose()
        await self.recall.aclose()
        await self.sessions.aclose()
        if self._claim is not None:
            await self._claim.aclose()
        logs.event(LOG, logging.INFO, "core.stopped")
        self._close_log()

    def connect(self) -> Client:
        """A door's connection: a socket, a kernel, a run of the command line."""
        return Client(self)

    @property
    def shares_data_dir(self) -> bool:
        """Whether another server uses the same data directory at the moment."""
        return self._claim is not None and self._claim.others

    def running(self, chat_id: str) -> bool:
        return self.orchestrator.running(chat_id)

    async def delete_chat(self, chat_id: str) -> None:
        """Stop what runs in the chat, then remove it. Raises `NotFound`."""
        await self.orchestrator.end_chat(chat_id)
        await self.sessions.delete(chat_id)
        self._approval.grants.forget_chat(chat_id)
        self.bus.drop(chat_id)

    async def search(self, query: str, *, limit: int) -> Found:
        """The turns of all chats that match, without secrets. Raises `StorageError`, `ReadOnly`."""
        self._learn_secrets()
        return await self.recall.search(query, limit=limit)

    async def export(self, chat_id: str, format: str) -> Export:
        """A chat as a file, without secrets. Raises `InvalidChatId`, `NotFound`, `BadSetting` for the format."""
        self._learn_secrets()
        return await asyncio.to_thread(
            export_chat, self.settings.paths, chat_id, format, self.redactor, cwd=str(self.workspace)
        )

    def _learn_secrets(self) -> None:
        """Take over keys that were set since the last turn."""
        secrets = self.llm_store.secrets()
        if secrets != self._known_secrets:
            self._known_secrets = secrets
            self.redactor.add(secrets)

    def open_questions(self, chat_id: str) -> list[ApprovalRequest]:
        """What a chat waits to be allowed, for a door that attaches meanwhile."""
        return [self._question(ask) for ask in self.questions.open(chat_id)]

    def _asked(self, ask: ApprovalAsk) -> None:
        self.bus.publish(ask.chat_id, self._question(ask))

    def _question(self, ask: ApprovalAsk) -> ApprovalRequest:
        expires = datetime.now(UTC) + timedelta(seconds=ask.timeout)
        return ApprovalRequest(
            chat_id=ask.chat_id,
            turn_id=ask.turn_id,
            call_id=ask.call_id,
            tool_name=ask.tool_name,
            arguments=self.redactor.value(ask.arguments),
            risk=ask.risk,
            preview=self.redactor(ask.preview),
            expires_at=expires.isoformat(timespec="seconds"),
        )

    def _resolved(self, ask: ApprovalAsk, answer: ApprovalAnswer) -> None:
        self.bus.publish(
            ask.chat_id,
            ApprovalResolved(
                turn_id=ask.turn_id,
                call_id=ask.call_id,
                decision=answer.decision,
                scope=answer.scope,
                reason=answer.reason,
            ),
        )
