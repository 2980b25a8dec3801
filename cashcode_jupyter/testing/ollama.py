"""Ollama's own routes, as far as a client asks them about a model: tags, show, ps and version."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

ARCHITECTURE = "llama"
VERSION = "0.12.3"
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": ARCHITECTURE,
    "families": [ARCHITECTURE],
    "parameter_size": "1.2B",
    "quantization_level": "Q4_K_M",
}
_SIZE = 807_694_464
_WHEN = "2026-01-02T03:04:05.678901234Z"


def tagged(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def tags(models: Sequence[str]) -> dict[str, Any]:
    return {"models": [_entry(name) | {"modified_at": _WHEN} for name in models]}


def ps(models: Sequence[str], loaded_window: int) -> dict[str, Any]:
    """The models in memory, with the window they were really loaded with."""
    loaded = {"expires_at": _WHEN, "size_vram": 0, "context_length": loaded_window}
    return {"models": [_entry(name) | loaded for name in models[:1]]}


def _entry(name: str) -> dict[str, Any]:
    named = tagged(name)
    return {"name": named, "model": named, "size": _SIZE, "digest": "0" * 64, "details": _DETAILS}


def show(
    body: Any, models: Sequence[str], context_window: int, vision: Collection[str] = ()
) -> tuple[int, dict[str, Any]]:
    """Status and body of `/api/show`; the models in `vision` see pictures."""
    name = (body.get("model") or body.get("name")) if isinstance(body, dict) else None
    if not isinstance(name, str) or not name:
        return 400, {"error": "model is required"}
    if tagged(name) not in map(tagged, models) and not name.startswith("mock"):
        return 404, {"error": f"model '{name}' not found"}
    return 200, {
        "modelfile": f"FROM {name}",
        "parameters": 'stop                           "<|eot_id|>"',
        "template": "{{ .Prompt }}",
        "details": _DETAILS,
        "model_info": {
            "general.architecture": ARCHITECTURE,
            "general.parameter_count": 1_235_814_432,
            f"{ARCHITECTURE}.context_length": context_window,
            f"{ARCHITECTURE}.embedding_length": 2048,
        },
        "capabilities": ["completion", "tools", *(["vision"] if tagged(name) in map(tagged, vision) else [])],
        "modified_at": _WHEN,
    }
