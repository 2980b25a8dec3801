"""The answer of `POST settings/llm/test`: success, or one of five fixed sentences with status 400."""

from __future__ import annotations

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import (
    LlmAuth,
    LlmBilling,
    LlmError,
    LlmOverloaded,
    LlmRateLimit,
    LlmServer,
    LlmTimeout,
    LlmTls,
    LlmUnreachable,
)


class TimedOut(LlmTimeout):
    status = 400


class KeyRefused(LlmAuth):
    status = 400


class NotReached(LlmUnreachable):
    status = 400


class Busy(LlmRateLimit):
    status = 400


class NotUsable(LlmServer):
    status = 400


def failed(error: LlmError) -> LlmError:
    """The error that the route answers with."""
    if isinstance(error, LlmTimeout):
        return TimedOut(_("The model server did not answer in time. Check the address and the network."))
    if isinstance(error, LlmAuth):
        return KeyRefused(_("The API key was refused. Check the key."))
    if isinstance(error, (LlmUnreachable, LlmTls)):
        return NotReached(_("The model server cannot be reached. Check the address."))
    if isinstance(error, (LlmRateLimit, LlmOverloaded, LlmBilling)):
        return Busy(_("The model server is busy or out of quota. Try again later."))
    return NotUsable(_("The connection test failed. Check that the address is that of a model API."))
