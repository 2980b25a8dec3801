"""Trying a model request again: when it makes sense, and how long to wait before.

One rule: only before anything was shown, and only what may be different next time.
"""

from __future__ import annotations

import random

from cashcode_jupyter.llm.errors import FirstByteTimeout, NotTheApi
from cashcode_jupyter.llm.network_errors import NothingListens
from cashcode_jupyter.protocol.errors import LlmError

LONGEST_WAIT = 120.0
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 8.0
_SAME_AGAIN = (FirstByteTimeout, NotTheApi, NothingListens)


def worth_retrying(error: LlmError) -> bool:
    """Whether the same request may succeed within the next minutes by itself."""
    return error.retryable and not isinstance(error, _SAME_AGAIN)


def wait_before(attempt: int, error: LlmError) -> float:
    """Seconds before attempt 1, 2, …: what the server asked for (at most 120), else doubling, with jitter."""
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_WAIT)
    return min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_BACKOFF) * random.uniform(0.75, 1.25)
