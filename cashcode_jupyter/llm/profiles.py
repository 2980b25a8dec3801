"""What a model server is known to accept: guessed from the provider, then taught by each 400 that names a rule.

One rule: a request carries as little as possible, and what a server refused once is not sent to it again.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from cashcode_jupyter.llm import vision
from cashcode_jupyter.llm.addresses import is_loopback
from cashcode_jupyter.llm.error_facts import ErrorFacts
from cashcode_jupyter.protocol.events import Provider

_WRITES_CALLS = re.compile(r"qwen|qwq|hermes|smollm", re.IGNORECASE)


@dataclass(frozen=True)
class Profile:
    """The rules of one model at one address.

    `content_null`: an assistant message with tool calls has content null, else `""`. `echo_reasoning`: such
    messages carry their `reasoning_content` back. `id_rule`: `mistral9` wants call ids of nine letters and
    digits. `textual_tool_calls`: calls may come as `<tool_call>` text. `opens_thinking`: the answer begins as
    reasoning without an opening tag. `context_window` is in tokens. `vision` is None while nobody said whether the
    model sees pictures. The others say whether the server takes a parameter.
    """

    provider: Provider
    tools: bool = True
    tool_choice: bool = True
    parallel_tool_calls: bool = False
    stream: bool = True
    stream_options: bool = True
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    content_null: bool = True
    echo_reasoning: bool = False
    id_rule: Literal["any", "mistral9"] = "any"
    textual_tool_calls: bool = False
    opens_thinking: bool = False
    context_window: int | None = None
    vision: bool | None = None


def first_guess(provider: Provider, url: str, model: str) -> Profile:
    """The profile before anything was learned."""
    if provider == "starter":
        return Profile(provider, tools=False, vision=False)
    local = provider == "ollama" or is_loopback(url)
    return Profile(
        provider,
        # llama.cpp makes one call at a time unless it is asked for more.
        parallel_tool_calls=local and provider != "ollama",
        textual_tool_calls=local or bool(_WRITES_CALLS.search(model)),
        id_rule="mistral9" if "mistral.ai" in url else "any",
    )


_NO_TOOLS = re.compile(
    r"(does not|doesn't|do not|not) support(ed)?( for)? (tools|tool use|tool call|function call|functions)|"
    r"(tools?|function calling|tool use|tool_use) (is|are) not supported|"
    r"enable-auto-tool-choice|requires --jinja|support tool use"
)
_UNKNOWN = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|invalid|extra|"
    r"not accepted|forbidden"
)


def learn(profile: Profile, sent: Collection[str], status: int, facts: ErrorFacts) -> Profile | None:
    """The profile after a refusal, None when the refusal teaches nothing. `sent`: the parameters of the request."""
    if _NO_TOOLS.search(facts.text) and "tools" in sent:
        return replace(profile, tools=False)
    pictures = vision.SENT in sent
    if pictures and vision.says_it_cannot_see(status, facts):
        return replace(profile, vision=False)
    learned = None
    if status in (400, 422):
        learned = _about_messages(profile, facts) or _about_parameters(profile, sent, facts)
    if learned is None and pictures and vision.speaks_of_pictures(status, facts):
        learned = replace(profile, vision=False)
    return learned if learned != profile else None


def _about_messages(profile: Profile, facts: ErrorFacts) -> Profile | None:
    text = facts.text
    if "tool call id" in text and "length of 9" in text:
        return replace(profile, id_rule="mistral9")
    if "reasoning_content" in text:
        return replace(profile, echo_reasoning=bool(re.search(r"missing|must be|required|pass(ed)? back", text)))
    if re.search(r"\bcontent\b", text):
        if re.search(r"non-?empty|must not be empty|cannot be empty|empty (string|content|text)", text):
            return replace(profile, content_null=True)
        if re.search(
            r"\bnull\b|\bnone\b|nonetype|expected (a )?string|valid string|should be a string|nil\b", text
        ):
            return replace(profile, content_null=False)
    return None


def _about_parameters(profile: Profile, sent: Collection[str], facts: ErrorFacts) -> Profile | None:
    def named(name: str) -> bool:
        return name in sent and (facts.param == name or bool(re.search(rf"\b{name}\b", facts.text)))

    if named("max_tokens") and "max_completion_tokens" in facts.text:
        return replace(profile, max_tokens_key="max_completion_tokens")
    if named("max_completion_tokens") and _UNKNOWN.search(facts.text):
        return replace(profile, max_tokens_key="max_tokens")
    for name in ("stream_options", "parallel_tool_calls", "tool_choice"):
        if named(name):
            return replace(profile, **{name: False})
    if facts.param == "stream" or re.search(
        r"streaming is not supported|not support stream|to stream this model", facts.text
    ):
        return replace(profile, stream=False)
    return None
