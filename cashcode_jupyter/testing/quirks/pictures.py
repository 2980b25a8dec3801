"""Refusals of requests that hold a picture, and of no other, in the words of the servers that say them."""

from __future__ import annotations

from collections.abc import Callable

from cashcode_jupyter.testing.pictures import pictures_of
from cashcode_jupyter.testing.quirks.refusals import refusal
from cashcode_jupyter.testing.quirks.registry import Asked, Response, add


def _blind(status: int, message: str) -> Callable[[Asked], Response | None]:
    answer = refusal(status, message, "invalid_request_error")
    return lambda asked: answer if pictures_of(asked.body) else None


for _name, _who, _status, _message in (
    ("no_vision", "OpenAI", 400, "Invalid content type. image_url is only supported by certain models."),
    ("no_vision_vllm", "vLLM", 400, "mock is not a multimodal model"),
    ("no_vision_zero", "vLLM", 400, "At most 0 image(s) may be provided in one prompt."),
    (
        "no_vision_serde",
        "DeepSeek",
        400,
        "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, "
        "expected `text` at line 1 column 1234",
    ),
    ("no_vision_text", "Groq", 400, "'messages.1.content' must be a string"),
    (
        "no_vision_llamacpp",
        "llama.cpp",
        500,
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    ),
    ("no_vision_ollama", "Ollama", 500, "this model is missing data required for image input"),
    ("no_vision_router", "OpenRouter", 404, "No endpoints found that support image input"),
    ("bad_picture", "a provider", 400, "Could not process image: the data is corrupt."),
):
    add(_name, f"status {_status} for a request with a picture ({_who})", refuse=_blind(_status, _message))
