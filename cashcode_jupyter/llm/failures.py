"""The one place where exceptions of openai and httpx2 become `LlmError`s."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.llm.addresses import is_loopback
from cashcode_jupyter.llm.error_facts import ErrorFacts, facts_of
from cashcode_jupyter.llm.errors import from_response
from cashcode_jupyter.llm.network_errors import from_exception
from cashcode_jupyter.llm.settings import Endpoint
from cashcode_jupyter.llm.sse import parse_body
from cashcode_jupyter.protocol.errors import LlmError

if TYPE_CHECKING:
    from openai import APIStatusError


@contextmanager
def endpoint_errors(endpoint: Endpoint, *, answered: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Raise an `LlmError` for everything a request to `endpoint` can fail with, but our own timeouts.

    `answered`: whether the answer had begun, so that a broken connection has cut it.
    """
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        has_key = bool(endpoint.api_key)
        raise from_response(error.status_code, _body(error), error.response.headers, has_key=has_key) from error
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise from_exception(error, loopback=is_loopback(endpoint.base_url), answered=answered()) from error


def refusal_of(error: LlmError) -> tuple[int, ErrorFacts] | None:
    """Status and facts of the answer with an error status that `error` was made of; None for other failures."""
    import openai

    cause = error.__cause__
    if not isinstance(cause, openai.APIStatusError):
        return None
    return cause.status_code, facts_of(_body(cause))


def _body(error: APIStatusError) -> Any:
    content = error.response.content
    try:
        return parse_body(content)[0]
    except (ValueError, IndexError):
        return content.decode("utf-8", "replace")
