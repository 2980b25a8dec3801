"""MEMORY.md and SOUL.md: what the agent remembers for good, and who it is. Plain files that people edit.

The one rule: nobody's words are overwritten unseen. A write names the hash of the bytes it replaces, all writers
take one lock, and bytes that are no UTF-8 are kept beside the file when they are replaced.
"""

from __future__ import annotations

import codecs
import hashlib
import logging
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory.persona import BUILTIN_PERSONA
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import BadSetting, Conflict
from cashcode_jupyter.storage import atomic
from cashcode_jupyter.storage.atomic import storage_errors
from cashcode_jupyter.storage.locks import exclusive

LOG = logs.log("memory")
LOCK = ".guard"
MAX_BYTES = 64 * 1024
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Document:
    """A text and the SHA-256 of its file's bytes in hex; `builtin` when the person has written no file."""

    text: str
    hash: str
    builtin: bool = False


class StaleDocument(Conflict):
    """The file changed since it was read; `current_hash` is that of its bytes now."""

    def __init__(self, current_hash: str) -> None:
        super().__init__(_("The text was changed meanwhile. Load it again, then save your changes."))
        self.current_hash = current_hash

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"current_hash": self.current_hash}


class LongTerm:
    """MEMORY.md. All methods block for a small file; they raise `StorageError` or `ReadOnly`."""

    def __init__(self, paths: Paths) -> None:
        self._file = _TextFile(paths.long_term, _("the memory"))

    def read(self) -> Document:
        """The whole memory; empty when there is none yet."""
        data = self._file.bytes()
        return Document(self._file.text(data), _hash(data))

    def write(self, text: str, expected_hash: str) -> Document:
        """Replace it. Raises `StaleDocument` when the file is not the one of `expected_hash`, `BadSetting` for
        a text that is too long."""
        with self._file.locked():
            if (current := _hash(self._file.bytes())) != expected_hash:
                raise StaleDocument(current)
            self._file.replace(text)
        return self.read()

    def remember(self, content: str) -> str:
        """Add one entry with date and time; what comes back tells the model what happened."""
        content = content.strip()
        if not content:
            return "Nothing was saved: the content is blank."
        with self._file.locked():
            data = self._file.bytes()
            if _folded(content) in _folded(self._file.text(data)):
                return "This is in the memory already; nothing was added."
            entry = f"[{datetime.now():%Y-%m-%d %H:%M}] {content}\n"
            if len(data) + len(entry.encode("utf-8", "replace")) > MAX_BYTES:
                return (
                    f"Nothing was saved: the memory is full ({MAX_BYTES // 1024} KiB). "
                    "Tell the user that MEMORY.md should be shortened."
                )
            self._file.extend(data, entry)
        logs.event(LOG, logging.INFO, "memory.saved", chars=len(content))
        return "Saved to the long-term memory."


class Persona:
    """SOUL.md, or the built-in persona where there is none or a blank one."""

    def __init__(self, paths: Paths) -> None:
        self._file = _TextFile(paths.soul, _("the persona"))

    def read(self) -> Document:
        data = self._file.bytes()
        if (text := self._file.text(data)).strip():
            return Document(text, _hash(data))
        return Document(BUILTIN_PERSONA, _hash(BUILTIN_PERSONA.encode()), builtin=True)

    def write(self, text: str, expected_hash: str) -> Document:
        """Replace it, with "" return to the built-in one. Raises as `LongTerm.write`."""
        with self._file.locked():
            if (current := self.read().hash) != expected_hash:
                raise StaleDocument(current)
            if text.strip():
                self._file.replace(text)
            else:
                self._file.remove()
        return self.read()


class _TextFile:
    """One file that people and we write."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self._reported = ""

    @contextmanager
    def locked(self) -> Iterator[None]:
        with storage_errors(self._what):
            atomic.make_folder(self._path.parent)
            with exclusive(self._path.parent / LOCK):
                yield

    def bytes(self) -> bytes:
        with storage_errors(self._what):
            try:
                return self._path.read_bytes()
            except FileNotFoundError:
                return b""

    def text(self, data: bytes) -> str:
        """Foreign bytes become replacement characters and are reported once."""
        text, codec, whole = _decode(data)
        if not whole and self._reported != (digest := _hash(data)):
            self._reported = digest
            logs.event(LOG, logging.WARNING, "memory.foreign_encoding", file=self._path.name, codec=codec)
        return text

    def replace(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        if len(data) > MAX_BYTES:
            raise BadSetting(
                _("This text is too long: it has {size} KiB, at most {limit} KiB are allowed.").format(
                    size=len(data) // 1024 + 1, limit=MAX_BYTES // 1024
                )
            )
        self._keep_foreign()
        atomic.replace(self._path, data)

    def extend(self, data: bytes, entry: str) -> None:
        """Add to `data`, the file's present bytes, in the encoding it has; what is there stays byte for byte."""
        text, codec, _whole = _decode(data)
        separator = "" if not text or text.endswith("\n") else "\n"
        codec = "utf-8" if codec == "utf-8-sig" else codec
        atomic.replace(self._path, data + (separator + entry).encode(codec, "replace"))

    def remove(self) -> None:
        self._keep_foreign()
        self._path.unlink(missing_ok=True)

    def _keep_foreign(self) -> None:
        data = self.bytes()
        if not _decode(data)[2]:
            atomic.replace(self._path.with_name(f"{self._path.name}.corrupt"), data)


def _decode(data: bytes) -> tuple[str, str, bool]:
    """`(text, codec, nothing was lost)`: UTF-8 unless a mark at the beginning says otherwise."""
    mark, codec = next(((mark, codec) for mark, codec in BOMS if data.startswith(mark)), (b"", "utf-8"))
    body = data[len(mark) :] if codec != "utf-8-sig" else data
    try:
        return body.decode(codec), codec, True
    except UnicodeDecodeError:
        return body.decode(codec, "replace"), codec, False


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
