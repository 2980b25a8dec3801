"""From what a server answered to one of the `LlmError` classes, with a sentence for people.

One rule: the sentence is ours. It may hold the model's name, a parameter's name or a number of tokens, never the
server's text. Throttling is recognised before overflow, because `Too many tokens, please wait` is no overflow.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.error_facts import ErrorFacts, facts_of
from cashcode_jupyter.llm.retry_after import retry_after
from cashcode_jupyter.protocol.errors import (
    LlmAuth,
    LlmBadRequest,
    LlmBilling,
    LlmContentFilter,
    LlmContextOverflow,
    LlmError,
    LlmModelNotFound,
    LlmOverloaded,
    LlmPayloadTooLarge,
    LlmProtocol,
    LlmRateLimit,
    LlmServer,
    LlmTimeout,
)

_BILLING = re.compile(
    r"insufficient[ _](quota|balance|funds|credit)|exceeded your current quota|payment required|billing|"
    r"(out of|not enough|no|more) credits|credit balance|arrears|余额不足|欠费"
)
_THROTTLE = re.compile(
    r"rate.?limit|too many requests|throttl|please wait|retry in \d|(tokens|requests) per (second|minute|hour|day)|"
    r"concurrency limit|quota metric|请求过于频繁|限流"
)
_OVERFLOW = re.compile(
    r"context[ _](length|window|size|limit)[ _]?(has been |is )?(exceed|limit|overflow)|exceed_context_size|"
    r"maximum (context|prompt|input|allowed input|model) length|max_(model_len|seq_len)|"
    r"(prompt|input) (is )?too (long|large)|"
    r"exceeds? (the )?(available |model'?s? )?(maximum )?(context|token limit|input length|number of tokens)|"
    r"exceeded model token limit|maximum number of (input )?tokens|input token count .{0,40}exceed|"
    r"reduce the length of the (messages|prompt|input)|too many (input )?tokens|context_length|"
    r"string_above_max_length|"
    r"超出.{0,6}上下文|上下文.{0,6}(超|限制)"
)
_WINDOWS = (
    re.compile(r"maximum (?:context|allowed input|prompt|input|model) length (?:is|of) ([\d,]+)"),
    re.compile(r"context size \(([\d,]+)"),
    re.compile(r"tokens? > ([\d,]+) maximum"),
    re.compile(r"max_(?:seq|model)_len\D{0,3}([\d,]+)"),
    re.compile(r"token limit\D{0,4}([\d,]+)"),
)
_FILTER = re.compile(
    r"content[ _](filter|policy)|content management policy|data_inspection_failed|responsibleai|moderation|"
    r"flagged|sensitive"
)
_BUSY = re.compile(
    r"overload|over capacity|at capacity|no available|temporarily unavailable|engine_overloaded|busy|服务.{0,4}繁忙"
)
_NO_MODEL = re.compile(
    r"model_not_found|modelnotfound|unknown model|no such model|not a valid model|invalid model|"
    r"model.{0,300}(not found|not exist|not available|not supported|unavailable|is not loaded)"
)
_AUTH = re.compile(r"authentication|invalid_api_key|incorrect api key|invalid api key|unauthorized")


class ContextOverflow(LlmContextOverflow):
    """The conversation does not fit; `window` is what the server said it takes, in tokens."""

    def __init__(self, detail: str, window: int | None) -> None:
        super().__init__(detail)
        self.window = window


class FirstByteTimeout(LlmTimeout):
    """The server took the request and said nothing; asking again would make it read the prompt again."""


class NotTheApi(LlmProtocol):
    """Something answered that is no model API (a sign-in page); asking again gives the same."""


def from_response(
    status: int,
    body: Any,
    headers: Mapping[str, str],
    *,
    has_key: bool = True,
) -> LlmError:
    """The error for an answer with an error status. `body` is the decoded JSON, else the text."""
    facts = facts_of(body)
    return _classify(status, facts, retry_after(headers, facts.text), has_key=has_key)


def from_stream_error(payload: Mapping[str, Any]) -> LlmError:
    """The error for an error object that came with status 200, in a body or within a stream."""
    facts = facts_of(payload)
    return _classify(facts.status, facts, retry_after({}, facts.text))


def web_page() -> LlmError:
    return NotTheApi(
        _(
            "A web page came back instead of an answer: a sign-in page or a gateway is in between, or the base "
            "URL is not that of the API (it often ends in /v1)."
        )
    )


def _classify(status: int | None, facts: ErrorFacts, wait: float | None, *, has_key: bool = True) -> LlmError:
    text = facts.text
    if status == 402 or (_BILLING.search(text) and not re.search(r"retry in \d", text) and status != 401):
        return LlmBilling(_("The account at the model's provider has no credit or quota left."))
    if status == 429 or _THROTTLE.search(text):
        return LlmRateLimit(_("The model server asks for a pause: too many requests or tokens."), retry_after=wait)
    if _OVERFLOW.search(text):
        return _overflow(facts)
    if status == 413:
        return LlmPayloadTooLarge(
            _("The request is too large for the model server. Attach less, or start a new chat.")
        )
    if _FILTER.search(text) and (status is None or status in (400, 403, 422, 451)):
        return LlmContentFilter(_("The model's provider refused this request by its content filter."))
    if status in (503, 529) or (_BUSY.search(text) and (status is None or status >= 500)):
        return LlmOverloaded(
            _("The model server is overloaded. If it stays so, try again later or choose another model."),
            retry_after=wait,
        )
    if status in (401, 403, 407) or (status is None and _AUTH.search(text)):
        return _refused(status, has_key)
    if (status is None or status in (400, 404, 422)) and _NO_MODEL.search(text):
        return no_such_model()
    return _by_status(status, facts, wait)


def _by_status(status: int | None, facts: ErrorFacts, wait: float | None) -> LlmError:
    if status in (404, 405):
        return LlmBadRequest(_("There is no chat API at this base URL. Check it; it often has to end in /v1."))
    if status in (408, 504):
        return LlmTimeout(
            _("The model server took too long and gave up. If this repeats, choose a faster model."),
            retry_after=wait,
        )
    if status is not None and 300 <= status < 400:
        return LlmBadRequest(
            _("The base URL redirects to another address, which is not followed. Enter the final address.")
        )
    if status is None or status >= 500 or status == 409:
        return LlmServer(
            _("The model server failed. If this repeats, choose another model or look at the server's own log."),
            retry_after=wait,
        )
    if facts.param:
        return LlmBadRequest(
            _(
                "The model server does not accept this request (parameter {name}). Check the base URL and the "
                "model's name, or choose another model."
            ).format(name=facts.param)
        )
    return LlmBadRequest(
        _(
            "The model server does not accept this request (status {status}). Check the base URL and the model's "
            "name, or choose another model."
        ).format(status=status)
    )


def _refused(status: int | None, has_key: bool) -> LlmError:
    if not has_key:
        return LlmAuth(_("The model server wants an API key, and none is set. Enter one in the settings."))
    if status == 403:
        return LlmAuth(_("The API key is not allowed to do this. Check the key and the rights of its account."))
    if status == 407:
        return LlmAuth(_("The proxy wants a login. Set user and password in HTTPS_PROXY."))
    return LlmAuth(_("The model server refused the API key. Enter it again in the settings."))


def _overflow(facts: ErrorFacts) -> LlmError:
    window = facts.window
    for pattern in _WINDOWS:
        if window is None and (found := pattern.search(facts.text)):
            window = int(found[1].replace(",", "") or 0) or None
    if window is None:
        return ContextOverflow(
            _(
                "The conversation is too long for this model. Start a new chat, or choose a model with a larger "
                "context window."
            ),
            None,
        )
    return ContextOverflow(
        _(
            "The conversation is too long for this model, which takes {window} tokens. Start a new chat, or choose "
            "a model with a larger context window."
        ).format(window=window),
        window,
    )


def no_such_model(model: str = "", known: Collection[str] = ()) -> LlmError:
    """`LlmModelNotFound` that names the model and up to three known ones with a similar name."""
    if not model:
        return LlmModelNotFound(_("The model server does not know this model."))
    sentence = _("The model server does not know the model {model}.").format(model=model)
    near = difflib.get_close_matches(model, list(known), n=3, cutoff=0.4)
    if near:
        sentence += " " + _("Similar ones: {names}.").format(names=", ".join(near))
    elif known:
        sentence += " " + _(
            "Models on that server: {count}. Choose one of them in the settings; `%cashcode model` lists them."
        ).format(count=len(known))
    return LlmModelNotFound(sentence)
