"""Events: everything that leaves the core. A WebSocket frame, an NDJSON line and a widget message are this.

`seq` grows by one per event of a chat, from 1; the bus gives it. A delta that joins several pieces carries
`first_seq` as well, so the numbers a subscriber sees have no gap and no overlap.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from cashcode_jupyter.protocol.errors import CashCodeError, ErrorCode

Risk = Literal["read", "write", "execute", "network", "memory"]
StopReason = Literal["answered", "cancelled", "budget", "loop", "suppressed"]
Provider = Literal["openai_compatible", "ollama", "starter"]


REF: Any = Field(default=None, description="the `ref` of the message that this answers")


class ModelChoice(BaseModel, frozen=True):
    """Which model of which provider answers."""

    provider: Provider
    model: str = Field(min_length=1, max_length=256)


class Event(BaseModel, frozen=True):
    """Base of all events; fields that are None are left out of the JSON."""

    event: str
    chat_id: str | None = None
    seq: int | None = None
    turn_id: str | None = None

    def payload(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True)


class Ready(Event, frozen=True):
    event: Literal["ready"] = "ready"
    client_id: str


class Attached(Event, frozen=True):
    event: Literal["attached"] = "attached"
    running: bool = False
    last_seq: int = 0
    title: str = ""


class Pong(Event, frozen=True):
    event: Literal["pong"] = "pong"


class StopAck(Event, frozen=True):
    event: Literal["stop_ack"] = "stop_ack"


class Steered(Event, frozen=True):
    event: Literal["steered"] = "steered"


class Queued(Event, frozen=True):
    event: Literal["queued"] = "queued"
    position: int = Field(description="1 is the next to run")
    ref: str | None = REF


class SessionUpdated(Event, frozen=True):
    event: Literal["session_updated"] = "session_updated"
    title: str
    updated_at: str = Field(description="ISO 8601 with offset")


class TurnStarted(Event, frozen=True):
    event: Literal["turn_started"] = "turn_started"
    llm: ModelChoice
    user_cursor: int
    ref: str | None = REF


class Delta(Event, frozen=True):
    event: Literal["delta"] = "delta"
    text: str
    stream_id: int
    first_seq: int | None = None


class Reasoning(Event, frozen=True):
    event: Literal["reasoning"] = "reasoning"
    text: str
    stream_id: int
    first_seq: int | None = None


class ToolCall(Event, frozen=True):
    event: Literal["tool_call"] = "tool_call"
    call_id: str
    tool_name: str
    arguments: dict[str, Any] = Field(description="secrets redacted")
    risk: Risk
    stream_id: int


class ApprovalRequest(Event, frozen=True):
    event: Literal["approval_request"] = "approval_request"
    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    risk: Risk
    preview: str = Field(description="the command, diff or URL")
    expires_at: str


class ApprovalResolved(Event, frozen=True):
    event: Literal["approval_resolved"] = "approval_resolved"
    call_id: str
    decision: Literal["allow", "deny"]
    scope: Literal["once", "turn", "chat"]
    reason: Literal["user", "timeout", "cancelled", "unattended"] = "user"


class ToolResult(Event, frozen=True):
    event: Literal["tool_result"] = "tool_result"
    call_id: str
    tool_name: str
    ok: bool
    result: str = Field(description="preview, at most 2,000 characters")
    truncated: bool = False
    spill: str | None = Field(default=None, description="`results/<call_id>.txt` when the whole result is on disk")
    duration_sec: float
    stream_id: int


class Usage(Event, frozen=True):
    event: Literal["usage"] = "usage"
    prompt_tokens: int
    completion_tokens: int
    context_window: int | None = None
    estimated: bool = Field(default=False, description="counted by us because the server sent no usage")


class Retrying(Event, frozen=True):
    """The model request failed before its first byte and is tried again after `delay_sec`."""

    event: Literal["retrying"] = "retrying"
    code: ErrorCode
    detail: str
    attempt: int
    delay_sec: float


class StreamEnd(Event, frozen=True):
    event: Literal["stream_end"] = "stream_end"
    stream_id: int


class TurnUsage(BaseModel, frozen=True):
    """Tokens of a whole turn: the sum over its model requests."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False


class Done(Event, frozen=True):
    event: Literal["done"] = "done"
    duration_sec: float
    stop_reason: StopReason
    usage: TurnUsage = TurnUsage()
    tool_calls: int = 0


class Error(Event, frozen=True):
    event: Literal["error"] = "error"
    code: ErrorCode
    detail: str
    retryable: bool = False
    retry_after: float | None = None
    ref: str | None = REF

    @classmethod
    def of(
        cls,
        error: CashCodeError,
        *,
        chat_id: str | None = None,
        turn_id: str | None = None,
        ref: str | None = None,
    ) -> Error:
        fields = error.as_dict()
        known = {name: fields[name] for name in ("code", "detail", "retryable", "retry_after") if name in fields}
        return cls(chat_id=chat_id, turn_id=turn_id, ref=ref, **known)


AnyEvent = Annotated[
    Ready
    | Attached
    | Pong
    | StopAck
    | Steered
    | Queued
    | SessionUpdated
    | TurnStarted
    | Delta
    | Reasoning
    | ToolCall
    | ApprovalRequest
    | ApprovalResolved
    | ToolResult
    | Usage
    | Retrying
    | StreamEnd
    | Done
    | Error,
    Field(discriminator="event"),
]
EVENTS: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
