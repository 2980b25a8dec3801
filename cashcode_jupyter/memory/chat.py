"""One chat, opened for writing: its messages in memory and its records on disk, which never disagree.

A record is on disk before its message is in `messages`. A message is never changed after it was added.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import metadata, records
from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.load import NOTHING, Loaded, load
from cashcode_jupyter.memory.pending import PendingFile, PendingMessage
from cashcode_jupyter.memory.records import CallRecord
from cashcode_jupyter.protocol.errors import CashCodeError, ReadOnly
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.storage.atomic import storage_errors
from cashcode_jupyter.storage.ledger import Ledger
from cashcode_jupyter.storage.locks import Lease

__all__ = ["CallRecord", "ChatLog", "PendingMessage"]

LOG = logs.log("chats")
SEQ_GAP = 1_000_000


class ChatLog:
    """One chat's history. `Sessions.open` makes it; use it until `Sessions.release` and no longer.

    `messages` are OpenAI-shaped, oldest first, as smart load gives them. `left_out` counts the older records that
    are on disk only. `last_seq` is where the numbers of the chat's events go on. `described` is false while title
    or model wait for `write_description`.
    """

    def __init__(self, chat_id: str, folder: Path, lease: Lease, *, new: bool = False) -> None:
        """Blocks: reads the end of the history and ends an interrupted turn legally. Needs the chat's lease.

        With `new` there is no folder yet, so there is nothing to read.
        """
        self.chat_id = chat_id
        self.folder = folder
        self.lease: Lease | None = lease
        self._metadata_lock = threading.Lock()
        self.described = True
        self.title, self.llm = "", None
        self.open_turn: str | None = None
        if not new:
            self.refresh()
        with ExitStack() as undo:
            history = folder / metadata.HISTORY
            self._ledger = Ledger(history, _("the chat")) if new else Ledger.open(history)
            undo.callback(self._ledger.close)
            loaded = NOTHING if new else load(self._ledger)
            self._pending = PendingFile(folder, loaded.message_ids, new=new)
            undo.callback(self._pending.close)
            self._adopt(loaded)
            undo.pop_all()

    def _adopt(self, loaded: Loaded) -> None:
        self.messages: list[dict[str, Any]] = list(loaded.messages)
        self.left_out = loaded.left_out
        self.last_seq = loaded.last_seq
        self.pending: list[PendingMessage] = self._pending.items
        if loaded.open_turn:
            self._end_interrupted(loaded.open_turn.turn_id, loaded.open_turn.missing)

    @property
    def results(self) -> Path:
        """Where whole tool results are kept that are too long for the history."""
        return self.folder / "results"

    @property
    def attachments(self) -> Attachments:
        """The pictures that came with messages."""
        return Attachments(self.folder)

    @property
    def broken_lines(self) -> int:
        """How many lines of the history could not be read so far; each costs only itself."""
        return self._ledger.broken_lines

    def append_user(
        self,
        content: str,
        *,
        turn_id: str,
        message_id: str,
        model_content: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> int:
        """A message of the person; the model sees `model_content` where it is given. Returns its cursor.

        A pending message of this id waits no more. This and the other `append_*` raise `StorageError` or
        `ReadOnly`; nothing is stored or added then.
        """
        return self.add_user(
            content, turn_id=turn_id, message_id=message_id, model_content=model_content, extra=extra
        )()

    def add_user(
        self,
        content: str,
        *,
        turn_id: str,
        message_id: str,
        model_content: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Callable[[], int]:
        """As `append_user` in two steps: in `messages` at once, on disk when the returned function was called.

        Between the two nothing else may be appended. When storing raises, the message is taken out again.
        """
        record = records.user(content, turn_id, message_id, model_content, extra or {})
        if message := records.message_of(record, self._ledger.last_cursor + 1):
            self.messages.append(message)

        def store() -> int:
            try:
                self._confirm()
                cursor = self._ledger.append(record)
            except BaseException:
                if message:
                    self.messages.pop()
                raise
            self.open_turn = turn_id
            try:
                self._pending.take(message_id)
            except CashCodeError as error:
                # The history has it, and the history decides when the chat is read again.
                logs.event(LOG, logging.WARNING, "chat.pending_not_cleared", chat_id=self.chat_id, code=error.code)
            return cursor

        return store

    def append_calls(self, text: str, calls: Sequence[CallRecord], *, turn_id: str, reasoning: str = "") -> int:
        """The tool calls of one model answer, with the text that came with them."""
        return self._append(records.calls(text, calls, turn_id, reasoning))

    def append_result(
        self,
        call_id: str,
        name: str,
        content: str,
        *,
        turn_id: str,
        ok: bool,
        duration_sec: float,
        spill: str | None = None,
        risk: str = "read",
    ) -> int:
        """What a call gave, as the model sees it; an empty content is kept."""
        return self._append(
            records.result(
                call_id, name, content, turn_id, ok=ok, duration_sec=duration_sec, spill=spill, risk=risk
            )
        )

    def append_assistant(self, text: str, *, turn_id: str, reasoning: str = "", partial: bool = False) -> int:
        """An answer; `partial` when the turn ended before it was whole."""
        return self._append(records.answer(text, turn_id, reasoning, partial))

    def end_turn(
        self,
        turn_id: str,
        *,
        stop_reason: str,
        usage: Mapping[str, Any],
        duration_sec: float,
        last_seq: int,
        tool_calls: int,
        error: str | None = None,
    ) -> None:
        """The closing record; without it a turn counts as interrupted."""
        self._append(
            {
                "role": records.CLOSING,
                "content": "",
                "turn_id": turn_id,
                "stop_reason": stop_reason,
                "usage": dict(usage),
                "duration_sec": duration_sec,
                "last_seq": last_seq,
                "tool_calls": tool_calls,
                **({"error": error} if error else {}),
            }
        )
        self.last_seq = max(self.last_seq, last_seq)
        self.open_turn = None

    def sync(self) -> None:
        """Return when all of this survives a power loss. Blocks: call it in a thread."""
        self._ledger.sync()
        self._pending.sync()

    def set_title(self, title: str) -> str:
        """Give the chat a title; returns `updated_at`. Raises `BadSetting` for a blank one."""
        title = metadata.checked_title(title)
        self._update(title=title)
        self.title = title
        return metadata.iso(metadata.changed_at(self.folder) or time.time_ns())

    def set_llm(self, choice: ModelChoice) -> None:
        """Remember the model that the chat uses."""
        if choice != self.llm:
            self._update(llm=choice.model_dump())
            self.llm = choice

    def describe(self, title: str | None, choice: ModelChoice) -> None:
        """Take over the model and, if one is given, the title; `write_description` puts them on the disk."""
        title = metadata.checked_title(title) if title else self.title
        self.described = self.described and (title, choice) == (self.title, self.llm)
        self.title, self.llm = title, choice

    def write_description(self) -> None:
        """Blocks; does nothing when nothing changed. Raises as `append_*`."""
        if not self.described:
            self.described = True
            llm = {"llm": self.llm.model_dump()} if self.llm else {}
            self._update(**llm, **({"title": self.title} if self.title else {}))

    def put_pending(self, item: PendingMessage) -> None:
        """Keep a message that waits; it survives a kill when this returns."""
        self._confirm()
        self._pending.put(item)

    def take_pending(self, message_id: str) -> None:
        """The message is in the history now, or nobody wants it any more."""
        self._confirm()
        self._pending.take(message_id)

    def renew(self) -> None:
        """Keep the lease; call it every 10 s while the chat is open. Blocks for a moment, raises `ReadOnly`."""
        if self.lease is not None:
            self.lease.renew()

    def refresh(self) -> None:
        """Read title and model again; another process may have changed them."""
        with storage_errors(_("the chat")):
            value = metadata.read_or_move_aside(self.folder)
        self.title = metadata.title_of(value)
        self.llm = metadata.llm_of(value)

    def changed_outside(self) -> bool:
        """Whether another process wrote this history since it was read."""
        return self._ledger.changed_outside()

    def close(self) -> None:
        self._ledger.close()
        self._pending.close()

    def _append(self, record: dict[str, Any]) -> int:
        self._confirm()
        cursor = self._ledger.append(record)
        self.open_turn = record["turn_id"]
        if message := records.message_of(record, cursor):
            self.messages.append(message)
        return cursor

    def _update(self, **changes: Any) -> None:
        self._confirm()
        with self._metadata_lock, storage_errors(_("the chat")):
            metadata.update(self.folder, **changes)

    def _confirm(self) -> None:
        if self.lease is None:
            raise ReadOnly(_("This chat is not open for writing. Send the message again."))
        self.lease.confirm()

    def _end_interrupted(self, turn_id: str, missing: Sequence[tuple[str, str]]) -> None:
        """A process was killed inside the last turn: what it ran is never run again, and the turn is closed."""
        for call_id, name in missing:
            self.append_result(
                call_id, name, records.INTERRUPTED_RESULT, turn_id=turn_id, ok=False, duration_sec=0.0
            )
        self.end_turn(
            turn_id,
            stop_reason="interrupted",
            usage={},
            duration_sec=0.0,
            last_seq=self.last_seq + SEQ_GAP,
            tool_calls=len(missing),
        )
        logs.event(LOG, logging.WARNING, "chat.interrupted_turn", chat_id=self.chat_id, calls=len(missing))
