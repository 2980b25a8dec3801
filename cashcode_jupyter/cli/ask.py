"""`cashcode ask`: one question, its answer streamed, then the end."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.cli.signals import Stop, stop_signals
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import MissingContent

STOP_SECONDS = 2.0
SHOWN_ARGUMENTS = 200
REFUSED = 2


def main(options: argparse.Namespace, console: Console) -> int:
    prompt = _prompt(options.prompt, console)
    if not prompt.strip():
        console.problem(MissingContent(_("There is no question. Give one, or pipe one in.")))
        return REFUSED
    return asyncio.run(_ask(options, console, prompt))


def _prompt(words: list[str], console: Console) -> str:
    if words and words != ["-"]:
        return " ".join(words)
    if sys.stdin.isatty():
        console.aside(_("Type the question; end it with Ctrl-D on a line of its own."))
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def _ask(options: argparse.Namespace, console: Console, prompt: str) -> int:
    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.config import Settings

    core = CashCode(
        Settings.load(),
        workspace=Path.cwd(),
        console=options.json,
        attended=False,
        approve=options.approve,
    )
    with stop_signals() as stop:
        await core.start()
        client = core.connect()
        try:
            chat_id = options.chat or client.chat_id
            message: dict[str, Any] = {"type": "message", "chat_id": chat_id, "content": prompt}
            if options.model:
                message["metadata"] = {"llm": options.model}
            turn = Turn(console, chat_id, named=bool(options.chat))
            following = asyncio.create_task(turn.follow(client.frames()))
            await client.send(json.dumps(message))
            return await _finish(following, stop, client, chat_id)
        finally:
            await core.stop()
            await client.aclose()
            await asyncio.to_thread(console.end_line)


async def _finish(following: asyncio.Task[int], stop: Stop, client: Any, chat_id: str) -> int:
    """The turn's exit status; a signal stops the turn first."""
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            return following.result()
        await client.send(json.dumps({"type": "cancel", "chat_id": chat_id}))
        await asyncio.wait({following}, timeout=STOP_SECONDS)
        return stop.status
    finally:
        for task in (stopping, following):
            task.cancel()
        await asyncio.gather(stopping, following, return_exceptions=True)


class Turn:
    """Follows the events of our one message. Messages that waited in the chat before it run first."""

    def __init__(self, console: Console, chat_id: str, *, named: bool) -> None:
        self._console = console
        self._chat_id = chat_id
        self._named = named
        self._turn_id: str | None = None
        self._ahead = 0
        self._after_tool = False
        self._thinking = False

    async def follow(self, frames: Any) -> int:
        """Show the turn until it is over; the exit status."""
        async for frame in frames:
            event = json.loads(frame)
            # A slow reader of ours must not hold up the turn.
            status = await asyncio.to_thread(self._take, event, frame)
            if status is not None:
                return status
        return 1

    def _take(self, event: dict[str, Any], frame: bytes) -> int | None:
        if self._console.json:
            self._console.record(frame)
        if event.get("chat_id") != self._chat_id and event["event"] != "error":
            return None
        if event["event"] == "turn_started" and self._turn_id is None:
            if self._ahead:
                self._ahead -= 1
            else:
                self._turn_id = event["turn_id"]
                self._started(event)
            return None
        if event["event"] == "queued" and self._turn_id is None:
            self._ahead = event["position"] - 1
            self._console.aside(_("Messages that waited in this chat are answered first."))
            return None
        if self._turn_id is not None:
            return self._within(event) if event.get("turn_id") == self._turn_id else None
        if event["event"] != "error" or "turn_id" in event:
            return None
        if self._ahead:
            self._ahead -= 1
            return None
        return self._failed(event)

    def _started(self, event: dict[str, Any]) -> None:
        llm = event["llm"]
        self._console.aside(_("{model} ({provider})").format(**llm))

    def _within(self, event: dict[str, Any]) -> int | None:
        match event["event"]:
            case "delta":
                self._text(event["text"])
            case "reasoning":
                if not self._thinking:
                    self._console.aside(_("thinking…"))
                self._thinking = True
            case "tool_call":
                arguments = json.dumps(event["arguments"], ensure_ascii=False)
                self._step(f"→ {event['tool_name']} {_short(arguments)}")
            case "tool_result":
                mark = "✓" if event["ok"] else "✗"
                first = event["result"].strip().partition("\n")[0]
                self._step(f"{mark} {event['tool_name']} {_short(first)}")
            case "retrying":
                self._step(
                    _("{detail} Trying again in {seconds:.0f} s.").format(
                        detail=event["detail"], seconds=event["delay_sec"]
                    )
                )
            case "error":
                return self._failed(event)
            case "done":
                return self._done(event)
        return None

    def _text(self, text: str) -> None:
        self._thinking = False
        if self._console.json:
            return
        if self._after_tool:
            self._console.end_line()
            self._after_tool = False
        self._console.write(text)

    def _step(self, text: str) -> None:
        if not self._console.json:
            self._console.end_line()
        self._after_tool = True
        self._console.aside(text)

    def _done(self, event: dict[str, Any]) -> int:
        if not self._console.json:
            self._console.end_line()
        reasons = {
            "budget": _("The turn used all its steps."),
            "loop": _("The turn was ended because it repeated the same tool call."),
            "cancelled": _("Stopped."),
        }
        if reason := reasons.get(event["stop_reason"]):
            self._console.aside(reason)
        if not self._named:
            self._console.aside(_("Go on with: --chat {chat_id}").format(chat_id=self._chat_id))
        return 0

    def _failed(self, event: dict[str, Any]) -> int:
        if not self._console.json:  # the event itself was written already
            self._console.end_line()
            self._console.failure(event["code"], event["detail"])
        return 1


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_ARGUMENTS else text[: SHOWN_ARGUMENTS - 1] + "…"
