"""What a `%%cashcode` cell does: read its line, ask, show, and end as the turn ended."""

from __future__ import annotations

import contextvars
import json
import re
import sys
import threading
from concurrent.futures import CancelledError
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel import chats
from cashcode_jupyter.kernel.answer import Answer
from cashcode_jupyter.kernel.display import Painter
from cashcode_jupyter.kernel.failures import readable
from cashcode_jupyter.kernel.options import Options, parse
from cashcode_jupyter.kernel.screen import Screen, can_ask
from cashcode_jupyter.kernel.session import Running, Session
from cashcode_jupyter.protocol import chat_names
from cashcode_jupyter.protocol.errors import CashCodeError

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<code>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)
PYTHON = ("", "python", "python3", "py", "ipython", "ipython3")


def run(session: Session, line: str, cell: str) -> None:
    """The whole cell. Raises `CashCodeError` that shows as one line, or `KeyboardInterrupt`."""
    try:
        options = parse(line)
        where = Screen.QUIET if options.json else session.screen()
        running = _start(session, options, line, cell, attended=not options.background and can_ask(where))
        painter = session.painter(running, where)
        if options.background:
            _follow_in_background(running, painter)
            return
        _follow(session, running, painter, options)
    except CashCodeError as error:
        raise readable(error) from None


def _start(session: Session, options: Options, line: str, cell: str, *, attended: bool) -> Running:
    if options.new:
        session.chat_id = chats.new_chat_id()
    question = session.question(
        session.cells.exact_body(line, cell) if session.cells else cell,
        chat_id=None if options.chat is None else chat_names.chat_id(options.chat),
        model=options.model,
        context=options.context,
        variables=options.variables,
        skills=options.skills,
        servers=options.servers,
        attended=attended,
    )
    return session.start(question)


def _follow(session: Session, running: Running, painter: Painter, options: Options) -> None:
    finish = _print_events(running) if options.json else painter.finish
    try:
        answer = session.wait(running, painter)
    except KeyboardInterrupt:
        finish(ending=_still_waiting(running) or _("interrupted"))
        raise
    except CashCodeError:
        finish()
        raise
    finish(ending=_ending(answer))
    if options.insert:
        _insert(session, answer)


def _ending(answer: Answer) -> str:
    if answer.stop_reason == "cancelled":
        return _("stopped")
    return ""


def _still_waiting(running: Running) -> str:
    if running.turn.waiting:
        return _("interrupted; the question still waits in its chat and will be answered there")
    return ""


def _follow_in_background(running: Running, painter: Painter) -> None:
    """Show the turn from a thread of its own. It inherits the cell's context, so its output goes to that cell."""

    def follow() -> None:
        painter.watch()
        ending = ""
        try:
            ending = _ending(running.future.result())
        except CancelledError:
            ending = _("stopped")
        except CashCodeError as error:
            ending = _("CashCode: {detail} [{code}]").format(detail=error.detail, code=error.code)
        painter.finish(ending=ending)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(follow,), daemon=True, name="cashcode-background-cell").start()


def _print_events(running: Running) -> Any:
    def finish(*, ending: str = "") -> None:
        for event in running.turn.events():
            sys.stdout.write(json.dumps(event, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    return finish


def _insert(session: Session, answer: Answer) -> None:
    """Propose the answer's Python as the next cell; a front end keeps one proposal a cell, so it is joined."""
    source = "\n\n".join(code for code in code_blocks(answer.text))
    if source and session.shell is not None:
        session.shell.set_next_input(source, replace=False)
    else:
        sys.stdout.write(_("(The answer has no Python code to insert.)") + "\n")


def code_blocks(text: str) -> list[str]:
    """The fenced blocks of a Markdown text that are Python or name no language."""
    return [
        match["code"].rstrip("\n")
        for match in _FENCE.finditer(text)
        if match["language"].lower() in PYTHON and match["code"].strip()
    ]
