"""A turn in a cell: appended pieces while it runs, one display when it ends, which is what the notebook keeps.

Pieces go out on a tick and are never repeated, so a long answer costs its length once; only the last display holds
the whole text.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.answer import Answer, call_line, markdown, plain, shorten
from cashcode_jupyter.kernel.screen import Screen
from cashcode_jupyter.kernel.turn import Turn

TICK = 0.04
MAX_PREVIEW = 4_000

Ask = Callable[[Mapping[str, Any]], bool]


class Painter:
    """Shows one turn. `watch` follows it to its end in the calling thread; `ask` decides on approval requests."""

    def __init__(self, turn: Turn, where: Screen, *, ask: Ask, decide: Callable[[str, bool], None]) -> None:
        self._turn = turn
        self._where = where
        self._ask = ask
        self._decide = decide
        self._streamed = False
        self._line_open = False
        self._thinking = False
        self._notes: list[str] = []

    def watch(self, deadline: float | None = None) -> None:
        """Show events until the turn ended, or until `deadline` (of `time.monotonic`)."""
        ended = False
        while not ended and (deadline is None or time.monotonic() < deadline):
            events, ended = self._turn.feed.take(TICK)
            pieces = [piece for event in events if (piece := self._piece(event))]
            if pieces:
                self._write("".join(pieces))
                if not ended:
                    time.sleep(TICK)
            for event in events:
                if event["event"] == "approval_request" and self._turn.question.attended:
                    self._decide(event["call_id"], self._ask(event))

    def finish(self, *, ending: str = "") -> None:
        """Replace the streamed pieces by the one display; `ending` says why the answer is not whole."""
        answer = self._turn.transcript.answer()
        if self._where is Screen.TERMINAL:
            rest = "" if not self._line_open else "\n"
            self._write(rest + (f"({ending})\n" if ending else ""))
            return
        from IPython.display import clear_output

        if self._where is Screen.LIVE and self._streamed:
            clear_output(wait=True)
        if answer.parts or self._notes or ending:
            show(answer, notes=self._notes, ending=ending)
        elif self._streamed:
            # Nothing to show: without a display the waiting `clear_output` would leave the pieces.
            clear_output()

    def _write(self, text: str) -> None:
        if self._where is Screen.QUIET or not text:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._streamed = True
        self._line_open = not text.endswith("\n")

    def _piece(self, event: Mapping[str, Any]) -> str:
        """What an event adds to the stream."""
        kind = event["event"]
        was_thinking, self._thinking = self._thinking, kind == "reasoning"
        if kind == "delta":
            self._line_open = not event["text"].endswith("\n") if event["text"] else self._line_open
            return event["text"]
        line = self._line(event, was_thinking)
        if not line:
            return ""
        start = "\n" if self._line_open else ""
        self._line_open = False
        return f"{start}{line}\n"

    def _line(self, event: Mapping[str, Any], was_thinking: bool) -> str:
        match event["event"]:
            case "reasoning" if not was_thinking:
                return _("(thinking…)")
            case "tool_call":
                return call_line(None, event["tool_name"], event.get("arguments") or {})
            case "tool_result":
                return call_line(event["ok"], event["tool_name"], None, event.get("result", ""))
            case "queued":
                return _("(waiting: the chat answers another question first)")
            case "retrying":
                return _("({detail} Trying again in {seconds:.0f} s.)").format(
                    detail=event["detail"], seconds=event["delay_sec"]
                )
            case "compaction" if event.get("status") == "done":
                return _("(earlier messages were summarised)")
            case "link":
                self._notes.append(event["detail"])
                return f"({event['detail']})"
        return ""


def show(answer: Answer, *, notes: list[str], ending: str) -> None:
    """Publish the answer once, with what made it in the metadata."""
    from IPython.display import display

    text_notes = [f"({note})" for note in notes]
    marked_notes = [f"*({note})*" for note in notes]
    text = "\n\n".join([*text_notes, plain(answer.parts), *([f"({ending})"] if ending else [])]).strip("\n")
    marked = "\n\n".join([*marked_notes, markdown(answer.parts), *([f"*({ending})*"] if ending else [])])
    facts: dict[str, Any] = {"chat_id": answer.chat_id, "stop_reason": answer.stop_reason}
    if answer.model:
        facts["model"] = answer.model
    display({"text/markdown": marked.strip("\n"), "text/plain": text}, raw=True, metadata={"cashcode": facts})


def ask_person(event: Mapping[str, Any]) -> bool:
    """Show what the tool would do and ask; Enter, a closed input and anything but yes mean no."""
    tool = _("CashCode wants to use {tool} ({risk}).").format(tool=event["tool_name"], risk=event["risk"])
    sys.stdout.write(f"\n{tool}\n{event.get('preview', '')[:MAX_PREVIEW]}\n")
    sys.stdout.flush()
    try:
        given = input(_("Allow {tool}? [y/N] ").format(tool=shorten(event["tool_name"], 60)))
    except EOFError:
        return False
    return given.strip().lower() in ("y", "yes", _("yes").lower())
