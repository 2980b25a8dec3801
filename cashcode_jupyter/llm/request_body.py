"""The bytes of a chat completion request, put together around messages that are JSON already.

One rule: the same request gives the same bytes, tools and messages first, so that a local model's prompt cache
recognises the start of the next request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.llm.profiles import Profile
from cashcode_jupyter.llm.vision import SENT
from cashcode_jupyter.protocol.events import ModelChoice


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model.

    `messages` renders the JSON array of messages under the profile's rules; it is called again when the server
    taught a rule. `tools` are OpenAI tool schemas, `tool_choice` is `auto`, `none`, `required` or a tool's name.
    `pictures`: the messages hold pictures for a model that sees.
    """

    choice: ModelChoice
    messages: Callable[[Profile], bytes]
    tools: Sequence[dict[str, Any]] = ()
    tool_choice: str | None = None
    max_tokens: int | None = None
    pictures: bool = False

    def tool_names(self) -> frozenset[str]:
        return frozenset(tool["function"]["name"] for tool in self.tools)


def encode(request: ModelRequest, profile: Profile) -> tuple[bytes, frozenset[str]]:
    """The body, and the names of the parameters in it, pictures among them."""
    before = _dumps({"model": request.choice.model})[:-1]
    names = {"model", "messages"}
    if request.pictures and profile.vision is not False:
        names.add(SENT)
    if request.tools and profile.tools:
        before += b',"tools":' + _tools_json(request.tools)
        names.add("tools")
    after: dict[str, Any] = {"stream": profile.stream}
    if profile.stream and profile.stream_options:
        after["stream_options"] = {"include_usage": True}
    if "tools" in names:
        if request.tool_choice and profile.tool_choice:
            after["tool_choice"] = _tool_choice(request.tool_choice)
        if profile.parallel_tool_calls:
            after["parallel_tool_calls"] = True
    if request.max_tokens is not None:
        after[profile.max_tokens_key] = request.max_tokens
    body = b"".join((before, b',"messages":', request.messages(profile), b",", _dumps(after)[1:]))
    return body, frozenset(names | after.keys())


class _ToolsJson:
    """Renders a tuple of tools once for as long as the same one comes: it cannot change, and it is long."""

    def __init__(self) -> None:
        self._last: tuple[Sequence[dict[str, Any]], bytes] = ((), b"[]")

    def __call__(self, tools: Sequence[dict[str, Any]]) -> bytes:
        known, text = self._last
        if tools is not known or not isinstance(tools, tuple):
            text = _dumps(list(tools))
            self._last = (tools, text)
        return text


_tools_json = _ToolsJson()


def _tool_choice(choice: str) -> str | dict[str, Any]:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
