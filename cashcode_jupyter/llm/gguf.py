"""The head of a GGUF file: enough to say what model it is, whether the file is whole, and what a context costs.

Only lengths and offsets are trusted that fit into the file; weights are never read. The format is that of
ggml's `docs/gguf.md`, versions 2 and 3, little endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_ENTRIES = 1_000_000
MAX_KEPT_TEXT = 4096
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True)
class GgufHead:
    """What the head says. `kv_bytes` is what one token of context takes in memory (keys and values, 16 bit)."""

    architecture: str
    context_length: int | None
    kv_bytes: int | None


def read_head(path: Path) -> GgufHead:
    """The head of the model in `path`; `BadSetting` says why it is none, `OSError` why it cannot be read."""
    size = path.stat().st_size
    with path.open("rb", buffering=1 << 20) as file:
        if file.read(4) != MAGIC:
            raise BadSetting(_("{name} is not a GGUF file.").format(name=path.name))
        reader = _Reader(file, size)
        try:
            version = reader.scalar("I")
            if version not in VERSIONS:
                raise BadSetting(
                    _("{name} is a GGUF file of version {version}; versions 2 and 3 can be read.").format(
                        name=path.name, version=version
                    )
                )
            values, data_end = _walk(reader)
        except (struct.error, UnicodeDecodeError, _Nonsense):
            raise BadSetting(_("{name} is broken: its header is not valid.").format(name=path.name)) from None
        if data_end > size:
            raise BadSetting(_("{name} is incomplete: its end is missing.").format(name=path.name))
    return _head(values)


class _Nonsense(ValueError):
    pass


class _Reader:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size

    def scalar(self, kind: str) -> Any:
        shape = "<" + kind
        return struct.unpack(shape, self.file.read(struct.calcsize(shape)))[0]

    def count(self) -> int:
        number = self.scalar("Q")
        if number > MAX_ENTRIES:
            raise _Nonsense
        return number

    def skip(self, length: int) -> None:
        if length > self.size - self.file.tell():
            raise _Nonsense
        self.file.seek(length, 1)

    def text(self) -> str:
        length = self.scalar("Q")
        if length > MAX_KEPT_TEXT:
            self.skip(length)
            return ""
        return self.file.read(length).decode("utf-8")

    def value(self) -> Any:
        """A scalar or a short text; arrays of numbers whose length is that of the layers; None for the rest."""
        kind = self.scalar("I")
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.scalar(_scalar(kind))
        kind, length = self.scalar("I"), self.count()
        if kind == _STRING:
            for _nothing in range(length):
                self.skip(self.scalar("Q"))
            return None
        if length > MAX_KEPT_TEXT:
            self.skip(length * struct.calcsize(_scalar(kind)))
            return None
        return [self.scalar(_scalar(kind)) for _nothing in range(length)]


def _scalar(kind: int) -> str:
    if kind not in _SCALARS:
        raise _Nonsense
    return _SCALARS[kind]


def _walk(reader: _Reader) -> tuple[dict[str, Any], int]:
    """The metadata, and an offset that a whole file reaches at least: where its last tensor begins."""
    tensors, entries = reader.count(), reader.count()
    values = {reader.text(): reader.value() for _nothing in range(entries)}
    last = 0
    for _nothing in range(tensors):
        reader.text()
        dimensions = reader.scalar("I")
        if dimensions > 8:
            raise _Nonsense
        reader.skip(8 * dimensions + 4)
        last = max(last, reader.scalar("Q"))
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise _Nonsense
    start = -(-reader.file.tell() // alignment) * alignment
    return values, start + last + (1 if tensors else 0)


def _head(values: dict[str, Any]) -> GgufHead:
    architecture = values.get("general.architecture")
    architecture = architecture if isinstance(architecture, str) else ""

    def number(key: str) -> int | None:
        value = values.get(f"{architecture}.{key}")
        if isinstance(value, list):  # some models give one number a layer
            value = max((item for item in value if isinstance(item, int)), default=None)
        return value if isinstance(value, int) and value > 0 else None

    layers, heads = number("block_count"), number("attention.head_count")
    width, kv_heads = number("embedding_length"), number("attention.head_count_kv") or heads
    key = number("attention.key_length") or (width // heads if width and heads else None)
    value = number("attention.value_length") or key
    kv_bytes = layers * kv_heads * (key + value) * 2 if layers and kv_heads and key and value else None
    return GgufHead(architecture=architecture, context_length=number("context_length"), kv_bytes=kv_bytes)
