"""The bus: the core publishes events of chats, every door that watches a chat reads them at its own pace.

A subscription holds positions, no events. Deltas go out at once when the line was quiet, then joined on a tick;
everything else goes out at once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator

from cashcode_jupyter.agent.journal import Entry, Journal, SlowReader, encode
from cashcode_jupyter.protocol.events import Event

TICK = 0.033
MAX_REPLIES = 4096
KEPT_IDLE = 64


class Bus:
    """All journals of this process and who reads them."""

    def __init__(self) -> None:
        self._journals: dict[str, Journal] = {}
        self._readers: dict[str, set[Subscription]] = {}
        self._idle: OrderedDict[str, None] = OrderedDict()

    def open(self, chat_id: str, last_seq: int) -> Journal:
        """The chat's journal; `last_seq` is where its numbers go on, after this process's or another's events."""
        self._idle.pop(chat_id, None)
        journal = self._journals.get(chat_id)
        if journal is None:
            journal = self._journals[chat_id] = Journal(chat_id, last_seq)
        elif journal.move_on(last_seq):
            for reader in self._readers.get(chat_id, ()):
                reader.rewind(chat_id)
        return journal

    def journal(self, chat_id: str) -> Journal | None:
        return self._journals.get(chat_id)

    def publish(self, chat_id: str, event: Event) -> None:
        """Tell everybody who watches the chat; its journal must be open."""
        self._journals[chat_id].add(event)
        for reader in self._readers.get(chat_id, ()):
            reader.notice(chat_id, urgent=True)

    def publish_text(self, chat_id: str, kind: str, text: str, *, stream_id: int, turn_id: str) -> None:
        """The fast path of a model's stream: no model object for each piece."""
        self._journals[chat_id].add_text(kind, text, stream_id=stream_id, turn_id=turn_id)
        for reader in self._readers.get(chat_id, ()):
            reader.notice(chat_id, urgent=False)

    def subscribe(self) -> Subscription:
        return Subscription(self)

    def close_idle(self, chat_id: str) -> None:
        """The chat's turns are over. The events of the last chats stay for who lost the connection meanwhile."""
        self._idle.pop(chat_id, None)
        self._idle[chat_id] = None
        while len(self._idle) > KEPT_IDLE:
            oldest, _ = self._idle.popitem(last=False)
            if (journal := self._journals.get(oldest)) and not self._readers.get(oldest):
                journal.forget_finished()

    def drop(self, chat_id: str) -> None:
        """The chat was deleted: its journal goes, its readers stay and hear of a new chat of that name."""
        self._journals.pop(chat_id, None)
        self._idle.pop(chat_id, None)
        for reader in self._readers.get(chat_id, ()):
            reader.rewind(chat_id)

    def _add_reader(self, chat_id: str, reader: Subscription) -> None:
        self._readers.setdefault(chat_id, set()).add(reader)

    def _remove_reader(self, chat_id: str, reader: Subscription) -> None:
        readers = self._readers.get(chat_id)
        if readers is not None:
            readers.discard(reader)
            if not readers:
                del self._readers[chat_id]


class Subscription:
    """One reader of any number of chats, and the replies that only it gets."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._positions: dict[str, int | None] = {}
        self._unread: dict[str, None] = {}
        self._replies: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()
        self._closed = False
        self._holding = False

    def watch(self, chat_id: str, position: int | None = None) -> None:
        """Read the chat from `position` on, by default from now on; keeps the place if it is watched already.

        A chat that is not open yet is read from the first event that this process publishes.
        """
        journal = self._bus.journal(chat_id)
        if position is not None:
            self._positions[chat_id] = position
        elif chat_id not in self._positions:
            self._positions[chat_id] = journal.seq if journal else None
        self._bus._add_reader(chat_id, self)
        self.notice(chat_id, urgent=True)

    def rewind(self, chat_id: str) -> None:
        """The chat's journal is gone; whatever follows is new."""
        self._positions[chat_id] = None

    def reply(self, event: Event) -> None:
        """An answer for this reader alone; it comes before the chat's events that are not sent yet."""
        self._replies.append(encode(event.payload()))
        self._wake(urgent=True)

    def notice(self, chat_id: str, *, urgent: bool) -> None:
        """There is something to read in this chat; text alone is not urgent."""
        self._unread[chat_id] = None
        self._wake(urgent=urgent)

    def _wake(self, *, urgent: bool) -> None:
        self._news.set()
        if urgent:
            self._urgent.set()

    async def frames(self) -> AsyncIterator[bytes]:
        """Frames until `close`; raises `SlowReader` when this reader fell too far behind."""
        clock = asyncio.get_running_loop().time
        quiet_until = 0.0
        while not self._closed:
            if self._holding:
                try:
                    async with asyncio.timeout_at(quiet_until):
                        await self._urgent.wait()
                except TimeoutError:
                    pass
            else:
                await self._news.wait()
            self._news.clear()
            self._urgent.clear()
            while (entry := self._next(hold=clock() < quiet_until)) is not None:
                if entry.is_text:
                    quiet_until = clock() + TICK
                yield entry.frame

    def _next(self, *, hold: bool) -> Entry | None:
        """What to send next. With `hold`, text that goes on and has nothing behind it waits for more."""
        self._holding = False
        if len(self._replies) > MAX_REPLIES:
            raise SlowReader("replies were not read")
        if self._replies:
            return Entry(0, self._replies.popleft(), is_text=False)
        for chat_id in list(self._unread):
            entry = self._next_of(chat_id, hold=hold)
            if entry is not None:
                return entry
        return None

    def _next_of(self, chat_id: str, *, hold: bool) -> Entry | None:
        journal = self._bus.journal(chat_id)
        position = self._positions[chat_id]
        if journal is not None:
            position = journal.floor if position is None else position
            if hold and journal.may_grow_after(position):
                self._holding = True
                return None
            if (entry := journal.next_after(position)) is not None:
                self._positions[chat_id] = entry.seq
                return entry
        del self._unread[chat_id]
        return None

    def close(self) -> None:
        self._closed = True
        for chat_id in self._positions:
            self._bus._remove_reader(chat_id, self)
        self._wake(urgent=True)
