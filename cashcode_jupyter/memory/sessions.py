"""All chats of one data directory, and who writes which.

One rule: a chat is written by one holder of its lease, and one process never has two `ChatLog`s of one chat.
Reading (the list, messages, titles) needs no lease. Everything here that touches the disk runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import bubbles, folders, metadata
from cashcode_jupyter.memory.chat import CallRecord, ChatLog, PendingMessage
from cashcode_jupyter.memory.folders import SessionRow
from cashcode_jupyter.memory.peek import Peek, peek
from cashcode_jupyter.memory.whole_result import read_result
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.actions import valid_chat_id
from cashcode_jupyter.protocol.errors import CashCodeError, InvalidChatId, NotFound, ReadOnly
from cashcode_jupyter.storage.atomic import storage_errors
from cashcode_jupyter.storage.locks import Lease, unclaimed

__all__ = ["CallRecord", "ChatLog", "PendingMessage", "SessionRow", "Sessions"]

LOG = logs.log("chats")
LEASES = ".leases"
CACHED_CHATS = 64
PATIENCE = (0.1, 0.2, 0.4)
T = TypeVar("T")


class Sessions:
    """The chats under `paths.memory`. One object a process and event loop."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._chats: OrderedDict[str, ChatLog] = OrderedDict()
        self._holders: Counter[str] = Counter()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self, chat_id: str) -> ChatLog:
        """The chat, to be written until `release`; a chat that is not there yet is a new one.

        Opening an open chat again gives the same object, and wants another `release`. Raises `ReadOnly` when
        another process writes it, `InvalidChatId`, `StorageError`.
        """
        async with self._lock(chat_id):
            if not self._holders[chat_id]:
                known = self._chats.get(chat_id)
                self._chats[chat_id] = self._take_at_once(chat_id, known) or await self._patiently(chat_id, known)
            self._holders[chat_id] += 1
            self._chats.move_to_end(chat_id)
            self._evict()
            return self._chats[chat_id]

    async def _patiently(self, chat_id: str, known: ChatLog | None) -> ChatLog:
        """Another process keeps a chat for a moment after its turn, so who is refused asks again for a moment."""
        for pause in PATIENCE:
            try:
                return await _whole(lambda: self._take(chat_id, known), undo=_abandon)
            except ReadOnly:
                await asyncio.sleep(pause)
        return await _whole(lambda: self._take(chat_id, known), undo=_abandon)

    async def release(self, chat: ChatLog) -> None:
        """Give the lease back; the chat stays in memory, so opening it again is cheap."""
        await self._release(chat, _give_back)

    async def settle(self, chat: ChatLog) -> None:
        """Write its description, make all of it survive a power loss, and `release` it; raises `StorageError`."""
        await self._release(chat, _settle)

    async def _release(self, chat: ChatLog, last: Callable[[ChatLog], None]) -> None:
        async with self._lock(chat.chat_id):
            if self._chats.get(chat.chat_id) is not chat or not self._holders[chat.chat_id]:
                return
            self._holders[chat.chat_id] -= 1
            if not self._holders[chat.chat_id]:
                del self._holders[chat.chat_id]
                if chat.open_turn is not None:
                    # Its closing record could not be written; the next open reads the disk and repairs it.
                    del self._chats[chat.chat_id]
                    last = _abandon
                await asyncio.to_thread(last, chat)
                self._evict()

    async def aclose(self) -> None:
        """Give all leases back and close all files."""
        for chat in list(self._chats.values()):
            await asyncio.to_thread(_abandon, chat)
        self._chats.clear()
        self._holders.clear()

    def exists(self, chat_id: str) -> bool:
        """Whether there is a chat of this id on disk."""
        try:
            return metadata.changed_at(self._folder(chat_id)) is not None
        except InvalidChatId:
            return False

    async def listing(self, *, limit: int = 50, before: str | None = None) -> tuple[list[SessionRow], str | None]:
        """A page of chats, newest first, and the `before` of the next page, None after the last."""
        rows, following = await asyncio.to_thread(self._listing, limit, before)
        # A chat that is written here may have a title that is not on the disk yet.
        written = {row.chat_id: self._chats[row.chat_id].title for row in rows if self._holders[row.chat_id]}
        return [replace(row, title=written.get(row.chat_id, row.title)) for row in rows], following

    async def messages(self, chat_id: str, *, before: int | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """The newest messages before the cursor `before` as people see them, oldest first; `NotFound`."""
        return await asyncio.to_thread(self._messages, chat_id, before, limit)

    async def result(self, chat_id: str, call_id: str) -> tuple[str, bool]:
        """The whole result of a tool call, and whether even that is cut; `NotFound`."""
        return await asyncio.to_thread(self._result, chat_id, call_id)

    async def read_title(self, chat_id: str) -> str:
        """The title, empty when there is none or no such chat."""
        return await asyncio.to_thread(self._title, chat_id)

    async def peek(self, chat_id: str) -> Peek:
        """Title, last event number and whether messages wait; all empty when there is no such chat."""
        found = await asyncio.to_thread(self._peek, chat_id)
        # Of a chat that is open here the title may be on its way to the disk.
        if self._holders[chat_id] and (chat := self._chats.get(chat_id)):
            return replace(found, title=chat.title, last_seq=max(found.last_seq, chat.last_seq))
        return found

    async def rename(self, chat_id: str, title: str) -> dict[str, str]:
        """`{chat_id, title, updated_at}`; raises `NotFound`, `BadSetting` for a blank title, `ReadOnly`."""
        title = metadata.checked_title(title)
        async with self._writing(chat_id) as chat:
            updated_at = await asyncio.to_thread(chat.set_title, title)
        logs.event(LOG, logging.INFO, "chat.renamed", chat_id=chat_id)
        return {"chat_id": chat_id, "title": title, "updated_at": updated_at}

    async def delete(self, chat_id: str) -> None:
        """Remove a chat whole, from the disk and from memory; a running turn must be stopped before.

        Raises `NotFound`, and `ReadOnly` while the chat is open here or in another process.
        """
        async with self._lock(chat_id):
            await asyncio.to_thread(self._existing, chat_id)
            if self._holders[chat_id]:
                raise ReadOnly(_("This chat is still running. Stop it first."))
            if chat := self._chats.pop(chat_id, None):
                chat.close()
            await asyncio.to_thread(self._delete, chat_id)
        logs.event(LOG, logging.INFO, "chat.deleted", chat_id=chat_id)

    async def branch(self, chat_id: str, from_cursor: int, new_chat_id: str) -> None:
        """Make a new chat of what came before the user message at `from_cursor`.

        Raises `NotFound` when no user message is there, `Conflict` when the new id is taken.
        """
        async with self._lock(new_chat_id):
            await asyncio.to_thread(self._branch, chat_id, from_cursor, new_chat_id)

    def _lock(self, chat_id: str) -> asyncio.Lock:
        if not valid_chat_id(chat_id):
            raise InvalidChatId("invalid chat_id")
        return self._locks.setdefault(chat_id, asyncio.Lock())

    @asynccontextmanager
    async def _writing(self, chat_id: str) -> AsyncIterator[ChatLog]:
        await asyncio.to_thread(self._existing, chat_id)
        chat = await self.open(chat_id)
        try:
            yield chat
        finally:
            await self.release(chat)

    def _evict(self) -> None:
        idle = [chat_id for chat_id in self._chats if not self._holders[chat_id]]
        for chat_id in idle[:-CACHED_CHATS]:
            self._chats.pop(chat_id).close()

    def _folder(self, chat_id: str) -> Path:
        """The folder of a valid id; a link that leads out of the memory folder is no chat."""
        if not valid_chat_id(chat_id):
            raise InvalidChatId("invalid chat_id")
        folder = self._paths.chat(chat_id)
        if folder.is_symlink():
            raise InvalidChatId("invalid chat_id")
        return folder

    def _existing(self, chat_id: str) -> Path:
        folder = self._folder(chat_id)
        with storage_errors(_("the chat")):
            if metadata.changed_at(folder) is None:
                raise NotFound(_("There is no such chat."))
        return folder

    def _lease_path(self, chat_id: str) -> Path:
        return self._paths.memory / LEASES / f"{chat_id}.json"

    def _take_at_once(self, chat_id: str, known: ChatLog | None) -> ChatLog | None:
        """The chat where that needs no reading and no waiting: a new one, or one that nobody wrote since.

        A handful of system calls, less than a thread would cost; everything else is left to `_take`.
        """
        folder = self._paths.chat(chat_id)
        if known is None and os.path.lexists(folder):
            return None  # `_take` says whether it is a chat
        lease = Lease.grab(self._lease_path(chat_id))
        if lease is None:
            return None
        try:
            if known is None and not os.path.lexists(folder):
                return ChatLog(chat_id, folder, lease, new=True)
            if known is not None and not known.changed_outside():
                known.refresh()
                known.lease = lease
                return known
        except BaseException:
            lease.release()
            raise
        lease.release()
        return None

    def _take(self, chat_id: str, known: ChatLog | None) -> ChatLog:
        folder = self._folder(chat_id)
        lease = Lease.acquire(self._lease_path(chat_id))
        try:
            if known is not None:
                if not known.changed_outside():
                    known.refresh()
                    known.lease = lease
                    return known
                known.close()
            return ChatLog(chat_id, folder, lease)
        except BaseException:
            lease.release()
            raise

    def _listing(self, limit: int, before: str | None) -> tuple[list[SessionRow], str | None]:
        with storage_errors(_("the list of chats")):
            return folders.list_page(self._paths.memory, limit=limit, before=before)

    def _messages(self, chat_id: str, before: int | None, limit: int) -> list[dict[str, Any]]:
        folder = self._existing(chat_id)
        with storage_errors(_("the chat")):
            return bubbles.page(folder / metadata.HISTORY, before=before, limit=limit)

    def _result(self, chat_id: str, call_id: str) -> tuple[str, bool]:
        folder = self._existing(chat_id)
        with storage_errors(_("the chat")):
            return read_result(folder / metadata.HISTORY, call_id)

    def _peek(self, chat_id: str) -> Peek:
        with storage_errors(_("the chat")):
            return peek(self._folder(chat_id))

    def _title(self, chat_id: str) -> str:
        with storage_errors(_("the chat")):
            return metadata.title_of(metadata.read(self._folder(chat_id)))

    def _delete(self, chat_id: str) -> None:
        folder = self._folder(chat_id)
        with unclaimed(self._lease_path(chat_id)):
            folders.remove(folder)
        folders.shred(self._paths.memory)

    def _branch(self, chat_id: str, from_cursor: int, new_chat_id: str) -> None:
        source, target = self._existing(chat_id), self._folder(new_chat_id)
        with storage_errors(_("the new chat")):
            folders.branch(source, from_cursor, target)


def _settle(chat: ChatLog) -> None:
    try:
        chat.write_description()
        chat.sync()
    finally:
        _give_back(chat)


def _give_back(chat: ChatLog) -> None:
    if chat.lease is None:
        return
    lease, chat.lease = chat.lease, None
    try:
        lease.release()
    except CashCodeError as error:
        # It is not renewed any more, so it ends by itself.
        logs.event(LOG, logging.WARNING, "lease.release_failed", chat_id=chat.chat_id, code=error.code)


def _abandon(chat: ChatLog) -> None:
    """Undo an opening that nobody waits for; a closed chat is read again when it is opened the next time."""
    chat.close()
    _give_back(chat)


async def _whole(work: Callable[[], T], *, undo: Callable[[T], None]) -> T:
    """Run `work` in a thread; when the caller is cancelled meanwhile, wait for it and undo it, so nothing leaks."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            await asyncio.to_thread(undo, task.result())
        raise
