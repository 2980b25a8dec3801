"""`cashcode run`: lines in, events out, until the input has ended and every turn is over."""

from __future__ import annotations

import argparse
import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.cli.lines import lines
from cashcode_jupyter.cli.outbox import Outbox
from cashcode_jupyter.cli.signals import stop_signals
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import InternalError

if TYPE_CHECKING:
    from cashcode_jupyter.agent.client import Client
    from cashcode_jupyter.app import CashCode

IDLE_TICK = 0.02
CHAT_ACTIONS = ("message", "steer", "cancel", "stop", "attach", "approval", "retry")
TOO_LONG = '"a line of at most 1 MiB was expected"'  # no object, so the core answers with bad_frame


def main(options: argparse.Namespace, console: Console) -> int:
    return asyncio.run(_run(options, console))


async def _run(options: argparse.Namespace, console: Console) -> int:
    from cashcode_jupyter.app import CashCode
    from cashcode_jupyter.config import Settings

    core = CashCode(Settings.load(), workspace=Path.cwd(), console=True, approve=options.approve)
    with stop_signals() as stop:
        await core.start()
        run = Run(core, core.connect(), options, console)
        writing = asyncio.create_task(run.write())
        working = asyncio.create_task(run.work())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({writing, working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (working, stopping):
                task.cancel()
            await asyncio.gather(working, stopping, return_exceptions=True)
            await core.stop()
            await run.client.aclose()  # what was published before is still written
        await writing
        if working.done() and not working.cancelled():
            await working
        return stop.status if stop.signal else 0


class Run:
    """One run: `work` acts on the input until all is done, `write` writes the events."""

    def __init__(self, core: CashCode, client: Client, options: argparse.Namespace, console: Console) -> None:
        self.client = client
        self._core = core
        self._console = console
        self._chat_id: str = options.chat or client.chat_id
        self._metadata = {"metadata": {"llm": options.model}} if options.model else {}
        self._chats = {self._chat_id}
        self._asked: dict[tuple[str, str], None] = {}
        self._ended = False
        self._pings = 0
        self._pong = asyncio.Event()

    async def work(self) -> None:
        async with aclosing(lines()) as source:
            async for line in source:
                await self._act(line)
        self._ended = True
        await self._deny_all()
        await self.client.send('{"type": "ping"}')
        await self._pong.wait()  # by now every chat that an action opened is known
        while any(self._core.running(chat_id) for chat_id in tuple(self._chats)):  # noqa: ASYNC110
            await asyncio.sleep(IDLE_TICK)

    async def _act(self, line: bytes | None) -> None:
        if line is None:
            await self.client.send(TOO_LONG)
            return
        text = line.decode("utf-8", "replace").strip()
        if text.startswith("{"):
            await self.client.send(self._with_chat(text))
        elif text:
            message = {"type": "message", "chat_id": self._chat_id, "content": text}
            await self.client.send(json.dumps(message | self._metadata))

    def _with_chat(self, text: str) -> str:
        """The action; one that names no chat means the run's."""
        try:
            action = json.loads(text)
        except (ValueError, RecursionError):
            return text
        self._pings += action.get("type") == "ping"
        if action.get("type") not in CHAT_ACTIONS:
            return text
        action.setdefault("chat_id", self._chat_id)
        if action["type"] == "message" and "metadata" not in action:
            action |= self._metadata
        if isinstance(action["chat_id"], str):
            self._chats.add(action["chat_id"])
        return json.dumps(action)

    async def write(self) -> None:
        outbox = Outbox(self._console.write_bytes)
        reading, writing = asyncio.create_task(self._read(outbox)), asyncio.create_task(outbox.run())
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            outbox.close()
            await writing
            await reading
        finally:
            reading.cancel()
            writing.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    async def _read(self, outbox: Outbox) -> None:
        from cashcode_jupyter.agent.journal import SlowReader

        try:
            async for frame in self.client.frames():
                event = json.loads(frame)
                if event["event"] == "pong" and not self._pings:
                    self._pong.set()  # the answer to our own ping
                    continue
                await outbox.put(frame)
                await self._notice(event)
        except SlowReader:
            raise InternalError(
                _("The reader of the events is too slow, so some were lost. The chat has all messages.")
            ) from None

    async def _notice(self, event: dict[str, Any]) -> None:
        kind, chat_id = event["event"], event.get("chat_id")
        if chat_id:
            self._chats.add(chat_id)
        if kind == "pong":
            self._pings -= 1
        elif kind == "approval_request" and chat_id:
            self._asked[chat_id, event["call_id"]] = None
            if self._ended:
                await self._deny_all()
        elif kind == "approval_resolved" and chat_id:
            self._asked.pop((chat_id, event["call_id"]), None)

    async def _deny_all(self) -> None:
        """Nobody is left who could answer."""
        for chat_id, call_id in list(self._asked):
            self._asked.pop((chat_id, call_id), None)
            answer = {"type": "approval", "chat_id": chat_id, "call_id": call_id, "decision": "deny"}
            await self.client.send(json.dumps(answer))
