"""`%cashcode` and its subcommands: a table of functions, each printing or showing one thing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from cashcode_jupyter import __version__
from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel import records
from cashcode_jupyter.kernel.answer import shorten
from cashcode_jupyter.kernel.failures import BadOption, readable
from cashcode_jupyter.kernel.options import PROVIDERS, model_choice
from cashcode_jupyter.kernel.session import Session
from cashcode_jupyter.protocol import chat_names
from cashcode_jupyter.protocol.errors import CashCodeError

LATER = ("forget", "skills", "mcp", "watch", "undo")
SHOWN_MODELS = 30


def run(session: Session, line: str) -> None:
    """Run one `%cashcode` line; raises `CashCodeError` that shows as one line."""
    name, _space, rest = line.strip().partition(" ")
    try:
        if name in LATER:
            sentence = _("%cashcode {name} is not part of version {version} yet.")
            _say(sentence.format(name=name, version=__version__))
            return
        if name not in COMMANDS:
            near = get_close_matches(name, COMMANDS, n=3) or [known for known in COMMANDS if known]
            raise BadOption(
                _("There is no %cashcode {name}. Did you mean {near}? A question goes below %%cashcode.").format(
                    name=shorten(name, 40), near=", ".join(near)
                )
            )
        COMMANDS[name](session, rest.strip())
    except CashCodeError as error:
        raise readable(error) from None


def status(session: Session, rest: str) -> None:
    try:
        settings = session.background.run(records.llm(session.door))
        model = _model_in_words(session, settings)
    except CashCodeError as error:
        model = error.detail
    if session.door.server is not None:
        place = _("the agent of {url}").format(url=session.door.server.url)
    else:
        place = _("an agent in this kernel")
    notice = session.door.take_notice()
    facts = [
        *([notice, ""] if notice else []),
        _("CashCode {version}: {place}").format(version=__version__, place=place),
        _("  chat     {chat}").format(chat=session.chat_id),
        _("  model    {model}").format(model=model),
        _("  running  turns from this kernel: {count}").format(count=len(session.running)),
    ]
    _say("\n".join([*facts, "", help_text()]))


def help_text() -> str:
    return _(
        """%%cashcode [options]             ask; the question is the text below
  --chat NAME, --new             in another chat; in a fresh one from now on
  --var NAME                     with a summary of a variable
  --context above|N|all          with cells that ran before
  --model PROVIDER:MODEL         with that model, this once
  --bg                           answer while other cells run
  --insert                       put the answer's code into the next cell
  --json                         print the events
%cashcode model [PROVIDER:MODEL] show the models, or use one in this notebook
%cashcode chats                  list the chats
%cashcode chat NAME              go on in that chat
%cashcode stop                   stop what this kernel asked for
%cashcode memory                 what is remembered across chats
%cashcode panel [chat|settings]  the panel, here below the cell

In Python: import cashcode_jupyter as cashcode
  cashcode.ask("…"), await cashcode.aask("…"), cashcode.Chat("name").ask("…")"""
    )


def model(session: Session, rest: str) -> None:
    if rest:
        session.model = model_choice(rest)
        _say(_("This notebook now uses {model}.").format(model=rest))
        return
    settings = session.background.run(records.llm(session.door))
    found = session.background.run(records.models(session.door))
    lines = [_("In use: {model}").format(model=_model_in_words(session, settings))]
    names = [f"{row['provider']}:{row['id']}" for row in found["models"]]
    if names:
        lines.append(_("Available:"))
        lines += [f"  {name}" for name in names[:SHOWN_MODELS]]
        if len(names) > SHOWN_MODELS:
            lines.append(_("  … and {count} more").format(count=len(names) - SHOWN_MODELS))
    for provider in PROVIDERS:
        if reason := (found["providers"].get(provider) or {}).get("error"):
            lines.append(f"{provider}: {reason}")
    _say("\n".join(lines))


def list_chats(session: Session, rest: str) -> None:
    rows = session.background.run(records.chats(session.door))
    if not rows:
        _say(_("There are no chats yet."))
        return
    width = max(len(row["chat_id"]) for row in rows)
    _say(
        "\n".join(
            f"{'*' if row['chat_id'] == session.chat_id else ' '} {row['chat_id']:<{width}}  "
            f"{row['updated_at'][:16].replace('T', ' ')}  {shorten(row['title'], 60)}"
            for row in rows
        )
    )


def chat(session: Session, rest: str) -> None:
    if not rest:
        _say(session.chat_id)
        return
    session.chat_id = chat_names.chat_id(rest.strip("\"'") if rest[0] == rest[-1] else rest)
    _say(_("This notebook now goes on in chat {chat}.").format(chat=session.chat_id))


def stop(session: Session, rest: str) -> None:
    count = session.stop()
    _say(_("Turns stopped: {count}").format(count=count) if count else _("Nothing of this kernel is running."))


def memory(session: Session, rest: str) -> None:
    text = session.background.run(records.memory(session.door)).strip()
    if not text:
        _say(_("Nothing is remembered yet."))
        return
    if session.shell is None or getattr(session.shell, "kernel", None) is None:
        _say(text)
        return
    from IPython.display import display

    display({"text/markdown": text, "text/plain": text}, raw=True)


def panel(session: Session, rest: str) -> None:
    from IPython.display import display

    from cashcode_jupyter.kernel.panels import panel as made

    display(made(rest or "chat"))


def _model_in_words(session: Session, settings: dict[str, Any]) -> str:
    if session.model:
        return "{provider}:{model}".format(**session.model)
    if default := settings.get("default"):
        return _("{provider}:{model} (the default; a chat keeps the one it used last)").format(**default)
    if (settings.get("starter") or {}).get("ready"):
        return _("the starter model")
    return _("none is configured yet; run `cashcode doctor` in a terminal to see your options")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "": status,
    "model": model,
    "chats": list_chats,
    "chat": chat,
    "stop": stop,
    "memory": memory,
    "panel": panel,
}
