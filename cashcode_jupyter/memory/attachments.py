"""The pictures of one chat as files beside its history, named by their content.

A file is whole and on disk before a record names it, and never changes; two messages with one picture share it.
"""

from __future__ import annotations

from pathlib import Path

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.pictures import FILE_NAME, MAX_PICTURE_BYTES, Picture, suffix_of
from cashcode_jupyter.storage import atomic
from cashcode_jupyter.storage.atomic import storage_errors

FOLDER = "attachments"


class Attachments:
    """The folder `attachments/` of a chat, made with the first picture. All methods block."""

    def __init__(self, chat: Path) -> None:
        self._folder = chat / FOLDER

    def put(self, picture: Picture) -> str:
        """Keep a picture, durable when its file name is returned. Raises `StorageError`, `ReadOnly`."""
        path = self._folder / picture.file
        with storage_errors(_("the picture")):
            if self.size(path.name) != len(picture.data):
                atomic.replace(path, picture.data, private=True)
        return path.name

    def size(self, file: str) -> int | None:
        """The bytes of a kept picture, None when it is not here."""
        if FILE_NAME.fullmatch(file) is None:
            return None
        path = self._folder / file
        try:
            return path.stat().st_size if path.is_file() and not path.is_symlink() else None
        except OSError:
            return None

    def read(self, file: str) -> bytes | None:
        """The picture, None when it is gone or a hand made something else of it."""
        size = self.size(file)
        if size is None or size > MAX_PICTURE_BYTES:
            return None
        try:
            data = (self._folder / file).read_bytes()
        except OSError:
            return None
        return data if suffix_of(data) == file.rpartition(".")[2] else None
