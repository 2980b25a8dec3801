"""The agent in Python: `ask`, `aask` and `Chat`, and what this kernel remembers between cells."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel import chats
from cashcode_jupyter.kernel.answer import Answer
from cashcode_jupyter.kernel.background import Background
from cashcode_jupyter.kernel.display import Painter, ask_person
from cashcode_jupyter.kernel.failures import readable, stopped
from cashcode_jupyter.kernel.link import Door
from cashcode_jupyter.kernel.options import context_choice, model_choice
from cashcode_jupyter.kernel.screen import Screen, can_ask, screen
from cashcode_jupyter.kernel.turn import Question, Turn
from cashcode_jupyter.kernel.variables import summary
from cashcode_jupyter.protocol import chat_names
from cashcode_jupyter.protocol.errors import CashCodeError, MissingContent

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cashcode_jupyter.kernel.cells import Cells

__all__ = ["Answer", "Chat", "Session", "aask", "ask", "session"]

AFTER_STOP_SECONDS = 2.5
INTERRUPT_TICK = 0.1


@dataclass(frozen=True, eq=False)
class Running:
    """A turn that this kernel asked for, and its future."""

    turn: Turn
    future: Future[Answer]


class Session:
    """One kernel's (or process's) view of the agent: its loop, its connection, its chat and model."""

    def __init__(self, shell: InteractiveShell | None = None) -> None:
        self.shell = shell
        self.cells: Cells | None = None
        self.background = Background()
        self.door = Door(self.background)
        self.model: dict[str, str] | None = None
        self.running: set[Running] = set()
        self._chat_id: str | None = None

    @property
    def chat_id(self) -> str:
        """The chat of cells that name none: this notebook's, or the one chosen since."""
        return self._chat_id or chats.default_chat_id(self.namespace)

    @chat_id.setter
    def chat_id(self, value: str) -> None:
        self._chat_id = value

    @property
    def namespace(self) -> Mapping[str, Any]:
        return self.shell.user_ns if self.shell is not None else {}

    def screen(self) -> Screen:
        return screen(self.shell, self.cells.running.cell_id if self.cells else None)

    def question(
        self,
        content: str,
        *,
        chat_id: str | None = None,
        model: Mapping[str, str] | None = None,
        context: str = "none",
        variables: Sequence[str] = (),
        skills: Sequence[str] = (),
        servers: Sequence[str] = (),
        attended: bool = False,
    ) -> Question:
        """The question with what is attached to it; `CashCodeError` for a blank one or an unknown variable."""
        if not content.strip():
            raise MissingContent(_("The question is empty. Write it below the %%cashcode line."))
        metadata: dict[str, Any] = {}
        if chosen := model or self.model:
            metadata["llm"] = dict(chosen)
        if skills:
            metadata["mentioned_skills"] = [{"name": name} for name in skills]
        if servers:
            metadata["selected_mcp_connectors"] = [{"server": name} for name in servers]
        items = self.cells.context(context) if self.cells else []
        items += [{"kind": "variable", "label": name, "text": summary(self.namespace, name)} for name in variables]
        if items:
            metadata["context"] = items
        return Question(chat_id=chat_id or self.chat_id, content=content, metadata=metadata, attended=attended)

    def start(self, question: Question) -> Running:
        """Run the turn on the background loop."""
        turn = Turn(self.door, question)
        running = Running(turn, self.background.submit(turn.run()))
        self.running.add(running)
        running.future.add_done_callback(lambda _future: self.running.discard(running))
        return running

    def painter(self, running: Running, where: Screen) -> Painter:
        def decide(call_id: str, allow: bool) -> None:
            self.background.submit(running.turn.decide(call_id, allow=allow))

        return Painter(running.turn, where, ask=ask_person, decide=decide)

    def wait(self, running: Running, painter: Painter) -> Answer:
        """Follow the turn to its end in this thread. An interrupt stops the turn, then raises."""
        try:
            painter.watch()
        except KeyboardInterrupt:
            running.future.cancel()
            painter.watch(time.monotonic() + AFTER_STOP_SECONDS)
            raise stopped() from None
        try:
            return running.future.result()
        except CancelledError:
            raise stopped() from None

    def stop(self) -> int:
        """Stop every turn that this kernel runs; returns how many there were."""
        running = list(self.running)
        for item in running:
            item.future.cancel()
        return len(running)

    def close(self) -> None:
        self.stop()
        self.background.close()


_session: tuple[int, Session] | None = None


def session() -> Session:
    """The session of this process; a forked child gets its own, since threads and sockets stay with the parent."""
    global _session
    if _session is None or _session[0] != os.getpid():
        shell = None
        if "IPython" in sys.modules:
            from IPython.core.getipython import get_ipython

            shell = get_ipython()
        made = Session(shell)
        if shell is not None:
            from cashcode_jupyter.kernel.cells import Cells

            made.cells = Cells(shell)
            made.cells.start()
        _session = (os.getpid(), made)
    return _session[1]


def end_session() -> None:
    """Stop what runs and let go of the agent; the next use makes a new session."""
    global _session
    if _session is not None and _session[0] == os.getpid():
        made = _session[1]
        if made.cells is not None:
            made.cells.stop()
        made.close()
    _session = None


def _question(
    prompt: str,
    chat: str | None,
    model: str | None,
    context: str | int | None,
    variables: Sequence[str],
    skills: Sequence[str],
    mcp: Sequence[str],
    *,
    attended: bool,
) -> Question:
    return session().question(
        prompt,
        chat_id=None if chat is None else chat_names.chat_id(chat),
        model=model_choice(model),
        context=context_choice(context),
        variables=variables,
        skills=skills,
        servers=mcp,
        attended=attended,
    )


def _warn(running: Running) -> None:
    """Say what a cell would show above its answer, e.g. that the server could not be used."""
    if running.turn.notice:
        warnings.warn(running.turn.notice, stacklevel=3)


def ask(
    prompt: str,
    *,
    chat: str | None = None,
    model: str | None = None,
    context: str | int | None = None,
    variables: Sequence[str] = (),
    skills: Sequence[str] = (),
    mcp: Sequence[str] = (),
) -> Answer:
    """Ask the agent and wait for its answer; works also where an event loop runs.

    `chat` is a chat's name or id (default: this notebook's chat), `model` is `PROVIDER:MODEL`, `context` adds cells
    that ran before (`"above"`, `"all"`, or how many), `variables` adds summaries of kernel variables. Raises
    `CashCodeError` with its `code`, and `KeyboardInterrupt` once an interrupted turn is stopped.
    """
    current = session()
    try:
        where = current.screen()
        question = _question(prompt, chat, model, context, variables, skills, mcp, attended=can_ask(where))
        running = current.start(question)
        # The answer is the cell's result and shows itself; only approvals are asked meanwhile.
        answer = current.wait(running, current.painter(running, Screen.QUIET))
        _warn(running)
        return answer
    except CashCodeError as error:
        raise readable(error) from None


async def aask(
    prompt: str,
    *,
    chat: str | None = None,
    model: str | None = None,
    context: str | int | None = None,
    variables: Sequence[str] = (),
    skills: Sequence[str] = (),
    mcp: Sequence[str] = (),
) -> Answer:
    """`ask` for coroutines: the caller's loop stays free, cancelling the await stops the turn.

    Nobody is asked for approvals meanwhile: tools that need one are denied.
    """
    current = session()
    try:
        question = _question(prompt, chat, model, context, variables, skills, mcp, attended=False)
        running = current.start(question)
        future = asyncio.wrap_future(running.future)
        try:
            # ipykernel's interrupt is heard only when its loop wakes up.
            while not (await asyncio.wait({future}, timeout=INTERRUPT_TICK))[0]:
                pass
        except asyncio.CancelledError:
            future.cancel()
            raise
        answer = future.result()
        _warn(running)
        return answer
    except CashCodeError as error:
        raise readable(error) from None


class Chat:
    """A chat of its own. The same name is the same chat in every kernel; without a name it is a new one."""

    def __init__(self, name: str | None = None, *, model: str | None = None) -> None:
        self.chat_id = chats.new_chat_id() if name is None else chat_names.chat_id(name)
        self.model = model

    def __repr__(self) -> str:
        return f"Chat({self.chat_id!r})"

    def ask(self, prompt: str, **options: Any) -> Answer:
        """As the function `ask`, in this chat."""
        options.setdefault("model", self.model)
        return ask(prompt, chat=self.chat_id, **options)

    async def aask(self, prompt: str, **options: Any) -> Answer:
        """As the function `aask`, in this chat."""
        options.setdefault("model", self.model)
        return await aask(prompt, chat=self.chat_id, **options)
