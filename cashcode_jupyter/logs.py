"""Logging in one place: JSON lines in `logs/cashcode.log`, rotated at local midnight, and a quiet console.

A line says what happened at a boundary and to which request, chat and turn; never content, arguments or
secrets. `log(name)` gives the logger, `event=` names the happening:

    LOG.info("turn.finished", extra={"fields": {"stop_reason": "answered"}})
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import queue
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any

from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import StorageError

ROOT = "cashcode"
FILE_NAME = "cashcode.log"
MAX_WAITING = 10_000
GATHER = 0.02
_IDS: dict[str, ContextVar[str | None]] = {
    name: ContextVar(name, default=None) for name in ("request_id", "chat_id", "turn_id")
}


def log(name: str) -> logging.Logger:
    """The logger of one part of the core, e.g. `log("turn")`."""
    return logging.getLogger(f"{ROOT}.{name}")


def now() -> str:
    """Local time as ISO 8601 with offset, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


@contextmanager
def ids(**values: str | None) -> Iterator[None]:
    """Put `request_id`, `chat_id` and `turn_id` on every line logged inside, in this task and its children."""
    tokens = [(_IDS[name], _IDS[name].set(value)) for name, value in values.items()]
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


def event(logger: logging.Logger, level: int, name: str, **fields: Any) -> None:
    """Log one boundary event with its fields (counts, names, durations)."""
    if logger.isEnabledFor(level):
        logger.log(level, name, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """One JSON object a line; an exception becomes its type and frames, its text may hold content."""

    def __init__(self, redact: Callable[[str], str] = str) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= getattr(record, "ids", {})
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["frames"] = _frames(record.exc_info[2])
        return self._redact(json.dumps(line, ensure_ascii=False, default=str))


def _frames(traceback: Any) -> list[str]:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{Path(code.co_filename).name}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return frames[-12:]


class DailyFile(logging.handlers.TimedRotatingFileHandler):
    """Rotates at local midnight; several processes may write the same file.

    The first process past midnight renames the file, the others notice that the file they hold is no longer
    the one of that name and open the new one.
    """

    def __init__(self, path: Path, days: int) -> None:
        super().__init__(path, when="midnight", backupCount=days - 1, encoding="utf-8", delay=False)
        self._lost = 0

    def rotate(self, source: str, dest: str) -> None:
        if not Path(dest).exists():
            super().rotate(source, dest)

    def doRollover(self) -> None:
        if self._is_current():
            super().doRollover()
        else:
            self._let_go()
            self.rolloverAt = self.computeRollover(int(datetime.now().timestamp()))

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is not None and not self._is_current():
            self._let_go()
        lost = self._lost
        super().emit(record)
        if lost and self._lost == lost:
            self._lost = 0
            note = logging.LogRecord(f"{ROOT}.log", logging.WARNING, "", 0, "log.lines_late_or_lost", (), None)
            note.fields = {"count": lost}
            super().emit(note)

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk costs lines of the log and nothing else; they are counted instead of shown one by one."""
        if isinstance(sys.exc_info()[1], OSError):
            self._lost += 1
        else:
            super().handleError(record)

    def close(self) -> None:
        try:
            super().close()
        except OSError:
            self._lost += 1  # what a full disk did not take; the file is closed all the same

    def _is_current(self) -> bool:
        try:
            held = os.fstat(self.stream.fileno()) if self.stream else None
            return held is not None and os.path.samestat(held, Path(self.baseFilename).stat())
        except (OSError, ValueError):
            return False

    def _let_go(self) -> None:
        """Close the file that was renamed or removed; writing the next line opens the new one."""
        held: Any = self.stream
        self.stream: Any = None
        try:
            if held:
                held.close()
        except OSError:
            self._lost += 1


class OffLoop(logging.handlers.QueueHandler):
    """Hands records to a thread, which formats and writes them: a slow disk must not hold up the event loop.

    The ids are those of the moment of logging. When the thread is `MAX_WAITING` records behind, new ones are lost.
    """

    def __init__(self, waiting: queue.Queue[logging.LogRecord]) -> None:
        super().__init__(waiting)
        self._waiting = waiting

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        record.ids = {name: value for name, variable in _IDS.items() if (value := variable.get())}
        return record

    def handleError(self, record: logging.LogRecord) -> None:
        if not self._waiting.full():
            super().handleError(record)


class Batches(logging.handlers.QueueListener):
    """Lets a few lines gather before it writes, so that the writing does not compete with what happens just now."""

    def __init__(self, waiting: queue.Queue[logging.LogRecord], handlers: Sequence[logging.Handler]) -> None:
        super().__init__(waiting, *handlers, respect_handler_level=True)
        self._waiting = waiting

    def dequeue(self, block: bool) -> logging.LogRecord:
        try:
            return self._waiting.get_nowait()
        except queue.Empty:
            record = self._waiting.get(block)
            time.sleep(GATHER)
            return record


def start(settings: Settings, redact: Callable[[str], str] = str, *, console: bool = True) -> Callable[[], None]:
    """Open the log; returns what closes it (twice is once). `StorageError` when the file cannot be written."""
    root = logging.getLogger(ROOT)
    try:
        settings.logs.mkdir(parents=True, exist_ok=True)
        file = DailyFile(settings.logs / FILE_NAME, settings.log_retention_days)
    except OSError as error:
        raise StorageError(
            _("The log file cannot be written ({reason}). Set CASHCODE_LOG_DIR to a folder that can.").format(
                reason=error.strerror or type(error).__name__
            )
        ) from error
    file.setLevel(settings.file_log_level)
    handlers: list[logging.Handler] = [file]
    if console:
        shown = logging.StreamHandler()
        shown.setLevel(settings.console_log_level)
        handlers.append(shown)
    for handler in handlers:
        handler.setFormatter(JsonLines(redact))
    waiting: queue.Queue[logging.LogRecord] = queue.Queue(MAX_WAITING)
    entrance = OffLoop(waiting)
    listener = Batches(waiting, handlers)
    listener.start()
    root.addHandler(entrance)
    root.setLevel(logging.DEBUG)
    root.propagate = False

    def stop() -> None:
        if entrance not in root.handlers:
            return
        root.removeHandler(entrance)
        entrance.close()
        listener.stop()
        for handler in handlers:
            handler.close()

    return stop
