"""Which directive a request is answered by, and in which of its tool rounds the request stands.

The server keeps no conversation: the round is counted from the assistant messages that follow the user message with
the directive. Order: the last user message's directive, a rule that fits that message, the directive of an earlier
user message, the model's name, the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.testing.answers import Answers
from cashcode_jupyter.testing.directive import DIRECTIVE, KINDS, MARK, Directive, parse


@dataclass(frozen=True)
class Plan:
    """The directive that holds, the tool round (0: no tool was called yet), and the last user message's text."""

    directive: Directive
    round: int
    asked: str


def content_text(content: Any) -> str:
    """The text of a message's content, which may be a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in parts if isinstance(text, str))
    return ""


def plan(body: dict[str, Any], answers: Answers) -> Plan:
    """Raises DirectiveError when the directive that holds cannot be understood."""
    listed = body.get("messages")
    messages = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    last, asked = -1, ""
    earlier: tuple[int, str] | None = None
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") != "user":
            continue
        text = content_text(messages[index].get("content"))
        if last < 0:
            last, asked = index, text
        if MARK in text and (found := DIRECTIVE.search(text)):
            earlier = index, found.group(1)
            break
    start = last
    if earlier is not None and earlier[0] == last:
        chosen = parse(earlier[1])
    elif rule := answers.rule_for(asked):
        chosen = rule
    elif earlier is not None:
        start, chosen = earlier[0], parse(earlier[1])
    else:
        chosen = _by_model(body.get("model")) or answers.default_for(asked)
    rounds = sum(_counts(message, chosen) for message in messages[start + 1 :])
    return Plan(chosen, rounds, asked)


def _by_model(model: Any) -> Directive | None:
    _, mark, spec = str(model or "").partition("mock:")
    # `mock:latest` is a name with Ollama's tag, not a directive.
    if not mark or ("=" not in spec and spec.partition(",")[0] not in KINDS):
        return None
    return parse(spec)


def _counts(message: dict[str, Any], chosen: Directive) -> bool:
    return message.get("role") == "assistant" and (chosen.count == "assistant" or bool(message.get("tool_calls")))
