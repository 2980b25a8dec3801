"""Everything that can go wrong, as one hierarchy: a stable `code` for programs and a sentence for people.

A sentence never holds a secret, a path outside the workspace or a raw provider body.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from cashcode_jupyter.i18n import _

ErrorCode = Literal[
    "bad_frame",
    "bad_metadata",
    "invalid_chat_id",
    "missing_content",
    "unknown_type",
    "not_found",
    "conflict",
    "forbidden",
    "read_only",
    "bad_setting",
    "key_required",
    "llm_not_configured",
    "llm_auth",
    "llm_billing",
    "llm_rate_limit",
    "llm_overloaded",
    "llm_server",
    "llm_timeout",
    "llm_tls",
    "llm_unreachable",
    "llm_context_overflow",
    "llm_payload_too_large",
    "llm_model_not_found",
    "llm_content_filter",
    "llm_bad_request",
    "llm_protocol",
    "tool_denied",
    "skill_unavailable",
    "mcp_unavailable",
    "storage",
    "internal",
]
ERROR_CODES: tuple[str, ...] = get_args(ErrorCode)


class CashCodeError(Exception):
    """Base of all errors that reach a person or a client.

    `status` is the HTTP status of a REST answer that carries the error, `retryable` says whether the same
    request may succeed later, `retry_after` how many seconds to wait if the other side said so.
    """

    code: ClassVar[ErrorCode] = "internal"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after

    def as_dict(self) -> dict[str, Any]:
        """`{code, detail, retryable, retry_after?}`, the fields of an `error` event."""
        fields: dict[str, Any] = {"code": self.code, "detail": self.detail, "retryable": self.retryable}
        if self.retry_after is not None:
            fields["retry_after"] = self.retry_after
        return fields


class InternalError(CashCodeError):
    """A defect of ours; without a `detail` of its own it says where the log is."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(
            detail
            or _(
                "Something went wrong inside CashCode. Its log (logs/cashcode.log in the data directory) has the "
                "details."
            )
        )


class BadFrame(CashCodeError):
    code, status = "bad_frame", 400


class BadMetadata(CashCodeError):
    code, status = "bad_metadata", 422


class InvalidChatId(CashCodeError):
    code, status = "invalid_chat_id", 404


class MissingContent(CashCodeError):
    code, status = "missing_content", 422


class UnknownType(CashCodeError):
    code, status = "unknown_type", 400


class NotFound(CashCodeError):
    code, status = "not_found", 404


class Conflict(CashCodeError):
    code, status = "conflict", 409


class Forbidden(CashCodeError):
    code, status = "forbidden", 403


class ReadOnly(CashCodeError):
    """Another process writes here at the moment, or the place cannot be written at all."""

    code, status, retryable = "read_only", 409, True


class BadSetting(CashCodeError):
    """A setting has a value that cannot be used."""

    code, status = "bad_setting", 422


class KeyRequired(CashCodeError):
    """The address changed, so the stored key must be given again: a key never goes to a new address."""

    code, status = "key_required", 422


class ToolDenied(CashCodeError):
    code, status = "tool_denied", 403


class SkillUnavailable(CashCodeError):
    code, status = "skill_unavailable", 409


class McpUnavailable(CashCodeError):
    code, status, retryable = "mcp_unavailable", 409, True


class StorageError(CashCodeError):
    """The disk is full, read-only or broken; what was there before is untouched."""

    code, status, retryable = "storage", 507, True


class LlmError(CashCodeError):
    """Base of what can go wrong between us and a model server."""

    code, status = "llm_server", 502


class LlmNotConfigured(LlmError):
    code, status = "llm_not_configured", 409


class LlmAuth(LlmError):
    code = "llm_auth"


class LlmBilling(LlmError):
    code = "llm_billing"


class LlmRateLimit(LlmError):
    code, retryable = "llm_rate_limit", True


class LlmOverloaded(LlmError):
    code, retryable = "llm_overloaded", True


class LlmServer(LlmError):
    code, retryable = "llm_server", True


class LlmTimeout(LlmError):
    code, retryable = "llm_timeout", True


class LlmTls(LlmError):
    code = "llm_tls"


class LlmUnreachable(LlmError):
    code, retryable = "llm_unreachable", True


class LlmContextOverflow(LlmError):
    code = "llm_context_overflow"


class LlmPayloadTooLarge(LlmError):
    code = "llm_payload_too_large"


class LlmModelNotFound(LlmError):
    code = "llm_model_not_found"


class LlmContentFilter(LlmError):
    code = "llm_content_filter"


class LlmBadRequest(LlmError):
    code = "llm_bad_request"


class LlmProtocol(LlmError):
    """The server's answer is not what the protocol says: broken JSON, a cut stream, HTML."""

    code, retryable = "llm_protocol", True
