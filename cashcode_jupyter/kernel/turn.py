"""One question and its answer, on the background loop: send, follow the events, survive a broken connection.

Nothing is lost or doubled: events are taken by `seq`, a new connection attaches after the last one that was seen,
and the question goes out again only when the chat shows that it never arrived.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from uuid import uuid4

from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.answer import Answer, Transcript
from cashcode_jupyter.kernel.failures import ServerGone, of_event
from cashcode_jupyter.kernel.link import Door, Link, LinkLost
from cashcode_jupyter.kernel.records import last_answer

STOP_SECONDS = 2.0
REPLAY_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Question:
    """What goes to the agent; `attended` says that a person can be asked for approvals."""

    chat_id: str
    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    attended: bool = False


class Feed:
    """Events on their way to the thread that shows them; holds what was not taken yet, at most the turn."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: list[Mapping[str, Any]] = []
        self._closed = False

    def put(self, event: Mapping[str, Any]) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take(self, timeout: float) -> tuple[list[Mapping[str, Any]], bool]:
        """What came since the last take, waiting `timeout` seconds for the first, and whether that was all."""
        with self._changed:
            if not self._events and not self._closed:
                self._changed.wait(timeout)
            events, self._events = self._events, []
            return events, self._closed


class Turn:
    """Follows one question. `run` raises `CashCodeError` when the turn failed; cancelling it stops the turn."""

    def __init__(self, door: Door, question: Question) -> None:
        self.question = question
        self.transcript = Transcript(question.chat_id)
        self.feed = Feed()
        self.turn_id: str | None = None
        self.waiting = False
        self.notice = ""
        self._door = door
        self._events: list[dict[str, Any]] = []
        self._link: Link | None = None
        self._sent = False
        self._heard = False
        self._ref = uuid4().hex
        self._seq = 0
        self._replay_until: float | None = None

    async def run(self) -> Answer:
        try:
            line = self._door.line(self.question.chat_id)
            if line.locked():
                self.feed.put({"event": "queued", "position": 1})
            async with line:
                return await self._run()
        finally:
            self.feed.close()

    async def _run(self) -> Answer:
        reading: asyncio.Task[None] | None = None
        try:
            self._link = await self._door.open()
            if notice := self._door.take_notice():
                self.notice = notice
                self.feed.put({"event": "link", "detail": notice})
            reading = asyncio.create_task(self._read())
            await asyncio.wait({reading})
            await reading
            return self.transcript.answer()
        except asyncio.CancelledError:
            if reading is not None:
                await self._stop(reading)
            raise
        finally:
            if reading is not None and not reading.done():
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
            if self._link is not None:
                await self._link.aclose()

    async def decide(self, call_id: str, *, allow: bool) -> None:
        """Answer an approval request, for this one call."""
        frame = {"type": "approval", "chat_id": self.question.chat_id, "call_id": call_id}
        await self._send(frame | {"decision": "allow" if allow else "deny", "scope": "once"})

    async def _stop(self, reading: asyncio.Task[None]) -> None:
        """Cancel the running turn and hear it end. A question that still waits in line stays there."""
        if self._link is None or (self.turn_id is None and (self.waiting or not self._sent)):
            return
        await self._send({"type": "cancel", "chat_id": self.question.chat_id})
        await asyncio.wait({reading}, timeout=STOP_SECONDS)

    async def _send(self, action: Mapping[str, Any]) -> None:
        if self._link is not None:
            # The reader notices a lost connection as well, and is the one to mend it.
            with suppress(LinkLost):
                await self._link.send(action)

    async def _read(self) -> None:
        await self._attach()
        while True:
            assert self._link is not None
            try:
                async with asyncio.timeout_at(self._replay_until) as patience:
                    async for event in self._link.events():
                        if await self._hear(event):
                            return
                        if self._replay_until != patience.when():
                            patience.reschedule(self._replay_until)
            except TimeoutError:
                await self._restore()
                return
            except LinkLost:
                await self._link.aclose()
                self._link, self._replay_until = None, None
                self._link = await self._door.reopen()
                await self._attach()

    async def _attach(self) -> None:
        frame: dict[str, Any] = {"type": "attach", "chat_id": self.question.chat_id}
        await self._send(frame | ({"after_seq": self._seq} if self._sent else {}))

    async def _hear(self, event: dict[str, Any]) -> bool:
        """Take one event; True when the turn is over."""
        kind, chat_id = event.get("event"), event.get("chat_id")
        if kind == "error" and self.turn_id is None and (chat_id is None or event.get("code") == "bad_metadata"):
            raise of_event(event)
        if chat_id != self.question.chat_id:
            return False
        if kind == "attached":
            await self._attached(running=event["running"], last_seq=event["last_seq"])
            return False
        seq = event.get("seq")
        if seq is not None:
            if seq <= self._seq:
                return False
            self._seq = seq
            self._replay_until = None
        if self.turn_id is None:
            self._before_the_turn(event)
        elif event.get("turn_id") == self.turn_id:
            return await self._within_the_turn(event)
        return False

    async def _attached(self, *, running: bool, last_seq: int) -> None:
        if not self._sent:
            self._seq = last_seq
        elif self._heard or running or last_seq != self._seq:
            if not running:
                self._replay_until = asyncio.get_running_loop().time() + REPLAY_SECONDS
            return
        question = self.question
        self._sent = True
        await self._send(
            {
                "type": "message",
                "chat_id": question.chat_id,
                "content": question.content,
                "metadata": question.metadata | {"ref": self._ref},
            }
        )

    def _before_the_turn(self, event: dict[str, Any]) -> None:
        """Find our turn in a chat that others use as well: the events that answer our question carry its ref."""
        if event.get("ref") != self._ref:
            return
        self._heard = True
        match event["event"]:
            case "queued":
                self.waiting = True
                self.feed.put(event)
            case "turn_started":
                self.turn_id, self.waiting = event["turn_id"], False
                self._put(event)
            case "error":
                raise of_event(event)

    async def _within_the_turn(self, event: dict[str, Any]) -> bool:
        kind = event["event"]
        if kind == "approval_request" and not self.question.attended:
            await self.decide(event["call_id"], allow=False)
        self._put(event)
        if kind == "error":
            raise of_event(event)
        return kind == "done"

    def events(self) -> list[dict[str, Any]]:
        """The turn's events so far, with text that came in pieces joined."""
        joined: list[dict[str, Any]] = []
        for kind, run in groupby(self._events, key=lambda event: event["event"]):
            if kind in ("delta", "reasoning"):
                pieces = list(run)
                first = pieces[0].get("first_seq", pieces[0]["seq"])
                whole = pieces[-1] | {"text": "".join(piece["text"] for piece in pieces)}
                joined.append(whole if first == whole["seq"] else whole | {"first_seq": first})
            else:
                joined += run
        return joined

    def _put(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        self.transcript.feed(event)
        self.feed.put(event)

    async def _restore(self) -> None:
        """The turn ended while the connection was down and its events are gone; its answer is in the chat."""
        text = await last_answer(self._door, self.question.chat_id, self.question.content)
        if text is None:
            raise ServerGone(
                _("The connection broke and the turn ended meanwhile. Its answer is kept in chat {chat}.").format(
                    chat=self.question.chat_id
                )
            )
        self.transcript.replace_text(text)
        self.feed.put({"event": "restored"})
