"""What a turn has used so far, and how its end is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cashcode_jupyter.agent.window import estimate_tokens
from cashcode_jupyter.llm.completion import Completion
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.protocol.events import Done, Error, Event, StopReason, StreamEnd, TurnUsage, Usage

MOST_TOKENS = 10**9


@dataclass
class Tally:
    """Tokens of the turn so far; `prompt` is that of the last request, the others are sums.

    `window` is the model's context, None when it is not known; `sees` is false for a model that sees no pictures.
    """

    prompt: int = 0
    prompt_sum: int = 0
    completion: int = 0
    estimated: bool = False
    tool_calls: int = 0
    window: int | None = None
    sees: bool = True

    @property
    def usage(self) -> TurnUsage:
        return TurnUsage(prompt_tokens=self.prompt_sum, completion_tokens=self.completion, estimated=self.estimated)

    def count(self, completion: Completion, sent: Sequence[dict[str, Any]]) -> None:
        """Add one request; `sent` is what it held, for servers that send no usage or an impossible one."""
        prompt, answered = _possible(completion.prompt_tokens), _possible(completion.completion_tokens)
        self.estimated = self.estimated or prompt is None or answered is None
        self.prompt = prompt or estimate_tokens(sent, sees=self.sees)
        self.prompt_sum += self.prompt
        self.completion += answered or estimate_tokens([{"content": completion.text + completion.reasoning}])

    def closing_events(
        self, turn_id: str, stream_id: int, stop_reason: StopReason, error: CashCodeError | None, duration: float
    ) -> list[Event]:
        """The last events of the turn: the error alone, or the end of the stream, the usage and `done`."""
        if error is not None:
            return [Error.of(error, turn_id=turn_id)]
        events: list[Event] = [StreamEnd(turn_id=turn_id, stream_id=stream_id)]
        if self.prompt:
            events.append(
                Usage(
                    turn_id=turn_id,
                    prompt_tokens=self.prompt,
                    completion_tokens=self.completion,
                    context_window=self.window,
                    estimated=self.estimated,
                )
            )
        events.append(
            Done(
                turn_id=turn_id,
                duration_sec=duration,
                stop_reason=stop_reason,
                usage=self.usage,
                tool_calls=self.tool_calls,
            )
        )
        return events


def as_message(tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The tools as something whose size can be estimated."""
    return {"content": str(tools) if tools else ""}


def _possible(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None
