"""Small GGUF files for tests: a writer for the head, by the format's own description."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

MODEL: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.context_length": 1024,
    "llama.block_count": 2,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["<s>", "</s>", "词"],
}


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(item) for item in value)
    if isinstance(value, list):
        return text(key) + struct.pack(f"<IIQ{len(value)}I", 9, 4, len(value), *value)
    return text(key) + struct.pack("<II", 4, value)


def gguf(values: dict[str, Any] | None = None, *, version: int = 3, tensor: int | None = 64) -> bytes:
    """A GGUF file with these entries and one tensor of `tensor` bytes (whole), or none."""
    values = MODEL if values is None else values
    head = b"GGUF" + struct.pack("<IQQ", version, 0 if tensor is None else 1, len(values))
    head += b"".join(entry(key, value) for key, value in values.items())
    if tensor is None:
        return head
    head += text("token_embd.weight") + struct.pack("<IQIQ", 1, tensor // 4, 0, 0)
    return head + b"\0" * (-len(head) % 32) + b"\0" * tensor


def write(path: Path, data: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf() if data is None else data)
    return path
