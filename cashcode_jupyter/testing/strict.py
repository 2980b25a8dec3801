"""The validator of a strict server: the first thing in a request that some server would refuse, said precisely.

It holds the rules that known servers enforce on the shape of messages and tools, so what passes here passes
anywhere.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
DATA_URL = re.compile(r"data:image/(png|jpeg|webp|gif);base64")
# fmt: off
PARAMETERS = frozenset({
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
    "max_completion_tokens", "max_tokens", "messages", "metadata", "modalities", "model", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "reasoning_effort",
    "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
    "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user",
    "verbosity", "web_search_options",
})
# fmt: on
KEYS = {
    "system": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {"role", "content", "name", "tool_calls", "refusal", "audio", "reasoning_content", "reasoning"}
    ),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
}


class Refused(Exception):
    """What a strict server would answer 400 to; `param` says where."""

    def __init__(self, param: str, message: str) -> None:
        super().__init__(f"{param}: {message}")
        self.param = param


def check(body: dict[str, Any]) -> None:
    """Raises Refused for the first rule that the request breaks."""
    _top_level(body)
    _tools(body)
    _messages(body["messages"])
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Refused("body", f"contains a lone surrogate ({error.object[error.start]!r})") from None
    except RecursionError:
        raise Refused("body", "is nested too deep") from None


def _top_level(body: dict[str, Any]) -> None:
    for key in body:
        if key not in PARAMETERS:
            raise Refused(key, "unrecognized request argument")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refused("model", "must be a text that is not empty")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise Refused("messages", "must be a list that is not empty")
    if not isinstance(body.get("stream", False), bool):
        raise Refused("stream", "must be true or false")
    if "stream_options" in body and not body.get("stream"):
        raise Refused("stream_options", "is only allowed when stream is true")
    for key in ("max_tokens", "max_completion_tokens"):
        if key in body and (type(body[key]) is not int or body[key] < 1):
            raise Refused(key, "must be a whole number above 0")
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body and "tools" not in body:
            raise Refused(key, "is only allowed when tools are given")


def _tools(body: dict[str, Any]) -> None:
    if "tools" not in body:
        return
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        raise Refused("tools", "must be a list that is not empty")
    seen: set[str] = set()
    for number, tool in enumerate(tools):
        at = f"tools[{number}]"
        if (
            not isinstance(tool, dict)
            or tool.get("type") != "function"
            or not isinstance(tool.get("function"), dict)
        ):
            raise Refused(at, 'must be {"type": "function", "function": {...}}')
        function = tool["function"]
        name = function.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise Refused(f"{at}.function.name", f"{name!r} must match {NAME.pattern}")
        if name in seen:
            raise Refused(f"{at}.function.name", f"{name!r} is given twice")
        seen.add(name)
        if unknown := set(function) - {"name", "description", "parameters", "strict"}:
            raise Refused(f"{at}.function", f"unknown key {min(unknown)!r}")
        if not isinstance(function.get("description", ""), str):
            raise Refused(f"{at}.function.description", "must be a text")
        parameters = function.get("parameters", {"type": "object"})
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            raise Refused(f"{at}.function.parameters", 'must be a JSON Schema of type "object"')


def _messages(messages: list[Any]) -> None:
    ids: set[str] = set()
    waiting: list[str] = []
    before = ""
    for number, message in enumerate(messages):
        at = f"messages[{number}]"
        role = _role(message, at)
        if waiting and role != "tool":
            raise Refused(at, f"a result for tool call {waiting[0]!r} must come before this {role} message")
        if role == "system" and number > 0:
            raise Refused(at, "only the first message may be a system message")
        if role == "user" and before == "user":
            raise Refused(at, "two user messages in a row")
        if role == "assistant":
            waiting = list(_calls(message, at, ids))
        elif role == "tool":
            waiting = _result(message, at, waiting, ids)
        _content(message, role, at)
        before = role
    if waiting:
        raise Refused("messages", f"the result for tool call {waiting[0]!r} is missing")
    if before not in ("user", "tool"):
        raise Refused("messages", f"the last message must be from user or tool, not {before}")


def _role(message: Any, at: str) -> str:
    if not isinstance(message, dict):
        raise Refused(at, "must be an object")
    role = message.get("role")
    if not isinstance(role, str) or role not in KEYS:
        raise Refused(f"{at}.role", f"unknown role {role!r}")
    for key in message:
        if key not in KEYS[role]:
            raise Refused(f"{at}.{key}", f"unknown key in a message of role {role}")
    return role


def _calls(message: dict[str, Any], at: str, ids: set[str]) -> Iterator[str]:
    if "tool_calls" not in message:
        return
    calls = message["tool_calls"]
    if not isinstance(calls, list) or not calls:
        raise Refused(f"{at}.tool_calls", "must be a list that is not empty, or left out")
    for number, call in enumerate(calls):
        where = f"{at}.tool_calls[{number}]"
        if (
            not isinstance(call, dict)
            or call.get("type") != "function"
            or not isinstance(call.get("function"), dict)
        ):
            raise Refused(where, 'must be {"id", "type": "function", "function": {...}}')
        if unknown := set(call) - {"id", "type", "function"}:
            raise Refused(where, f"unknown key {min(unknown)!r}")
        call_id, function = call.get("id"), call["function"]
        if not isinstance(call_id, str) or not call_id:
            raise Refused(f"{where}.id", "must be a text that is not empty")
        if call_id in ids:
            raise Refused(f"{where}.id", f"duplicate tool call id {call_id!r}")
        ids.add(call_id)
        if unknown := set(function) - {"name", "arguments"}:
            raise Refused(f"{where}.function", f"unknown key {min(unknown)!r}")
        name = function.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise Refused(f"{where}.function.name", f"{name!r} must match {NAME.pattern}")
        _arguments(function.get("arguments"), f"{where}.function.arguments")
        yield call_id


def _arguments(text: Any, where: str) -> None:
    if not isinstance(text, str):
        raise Refused(where, "must be a text")
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(where, "must be valid JSON") from None
    if not isinstance(value, dict):
        raise Refused(where, "must be a JSON object")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused(where, "contains a lone surrogate") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _result(message: dict[str, Any], at: str, waiting: list[str], ids: set[str]) -> list[str]:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise Refused(f"{at}.tool_call_id", "must be a text that is not empty")
    if not waiting and call_id in ids:
        raise Refused(at, f"tool call {call_id!r} has its result already, or it does not stand directly before")
    if call_id not in waiting:
        raise Refused(at, f"tool message without a directly preceding call {call_id!r}")
    if call_id != waiting[0]:
        raise Refused(at, f"results must come in the order of the calls: {waiting[0]!r} before {call_id!r}")
    return waiting[1:]


def _picture(part: dict[str, Any], where: str) -> None:
    if unknown := set(part) - {"type", "image_url"}:
        raise Refused(where, f"unknown key {min(unknown)!r}")
    picture = part.get("image_url")
    if not isinstance(picture, dict) or not isinstance(picture.get("url"), str):
        raise Refused(f"{where}.image_url", 'must be {"url": "..."}')
    if unknown := set(picture) - {"url", "detail"}:
        raise Refused(f"{where}.image_url", f"unknown key {min(unknown)!r}")
    head, comma, data = picture["url"].partition(",")
    if head.startswith("https://"):
        return
    if not comma or not DATA_URL.fullmatch(head):
        raise Refused(f"{where}.image_url.url", "must be data:image/(png|jpeg|webp|gif);base64,... or https://")
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        raise Refused(f"{where}.image_url.url", "is not valid base64") from None


def _content(message: dict[str, Any], role: str, at: str) -> None:
    content = message.get("content")
    where = f"{at}.content"
    if isinstance(content, list):
        for number, part in enumerate(content):
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                raise Refused(f"{where}[{number}]", "must be a part with a type")
            if part["type"] == "text" and not isinstance(part.get("text"), str):
                raise Refused(f"{where}[{number}].text", "must be a text")
            if part["type"] != "text" and role != "user":
                raise Refused(f"{where}[{number}].type", f"a {role} message may hold only text")
            if part["type"] == "image_url":
                _picture(part, f"{where}[{number}]")
            elif part["type"] != "text":
                raise Refused(f"{where}[{number}].type", f"unknown type {part['type']!r}")
    elif content is not None and not isinstance(content, str):
        raise Refused(where, "must be a text or a list of parts")
    if role == "assistant":
        blank = not content or (isinstance(content, str) and not content.strip())
        if blank and "tool_calls" not in message:
            raise Refused(at, "an assistant message needs content or tool calls")
    elif content is None or content == []:
        raise Refused(where, f"is required in a {role} message")
