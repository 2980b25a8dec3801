"""A request's answer: a status and a JSON object, for an error `{code, detail, request_id}`. No door in here."""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError, ErrorCode, InternalError, NotFound
from cashcode_jupyter.resources.request import CoreSource, Request
from cashcode_jupyter.resources.routes import Route, find

LOG = logs.log("http")
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Problem:
    """What an error becomes on the wire."""

    status: int
    code: ErrorCode
    detail: str
    current_hash: str | None = None
    retry_after: float | None = None

    def body(self, request_id: str) -> dict[str, Any]:
        body = {"code": self.code, "detail": self.detail, "request_id": request_id}
        return body if self.current_hash is None else body | {"current_hash": self.current_hash}


@dataclass(frozen=True)
class Answer:
    """`body` is None for a 204."""

    status: int
    body: dict[str, Any] | None

    @classmethod
    def failed(cls, found: Problem, request_id: str = "") -> Answer:
        return cls(found.status, found.body(request_id or uuid.uuid4().hex))


def problem(error: BaseException | None, status: int) -> Problem:
    """The answer to an error; one that is not ours says no more than its HTTP status does."""
    if isinstance(error, CashCodeError):
        return Problem(
            error.status,
            error.code,
            error.detail,
            current_hash=getattr(error, "current_hash", None),
            retry_after=error.retry_after,
        )
    if status == HTTPStatus.NOT_FOUND:
        return Problem(status, "not_found", _("There is nothing at this address."))
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Problem(
            status,
            "forbidden",
            _("You are not logged in to this Jupyter server, or your account may not use CashCode."),
        )
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return Problem(status, "bad_frame", _("This address does not take this kind of request."))
    if 400 <= status < 500:
        return Problem(status, "bad_frame", _("The request cannot be read."))
    return Problem(status, "internal", InternalError().detail)


async def call(route: Route, method: str, request: Request) -> Answer:
    """Do what the route's method does. Raises `CashCodeError`, `NotFound` also for a segment that is none."""
    if "chat_id" in request.params:
        from cashcode_jupyter.protocol.actions import valid_chat_id

        if not valid_chat_id(request.params["chat_id"]):
            raise NotFound(_("There is nothing at this address."))
    body = await route.calls[method](request)
    return Answer(HTTPStatus.NO_CONTENT if body is None else HTTPStatus.OK, body)


async def answer(core: CoreSource, method: str, path: str, body: object = None) -> Answer:
    """Answer a panel's request where no web server does: `path` is like `sessions/abc/messages?limit=10`.

    Whatever is wrong becomes an answer. Only what panels use is served.
    """
    request_id, started = uuid.uuid4().hex, time.monotonic()
    address, _mark, query = path.partition("?")
    route, params = find(address) or (None, {})
    if route is not None and not route.for_panels:
        route = None
    with logs.ids(request_id=request_id):
        given = await _answer(core, method, route, params, query, body, request_id)
        logs.event(
            LOG,
            logging.DEBUG if method == "GET" and given.status < 400 else logging.INFO,
            "panel.request",
            method=method if route is not None and method in route.calls else UNKNOWN,
            route=route.path if route is not None else UNKNOWN,
            status=int(given.status),
            duration_ms=round((time.monotonic() - started) * 1000, 1),
        )
    return given


async def _answer(
    core: CoreSource,
    method: str,
    route: Route | None,
    params: dict[str, str],
    query: str,
    body: object,
    request_id: str,
) -> Answer:
    if route is None:
        return Answer.failed(problem(None, HTTPStatus.NOT_FOUND), request_id)
    if method not in route.calls:
        return Answer.failed(problem(None, HTTPStatus.METHOD_NOT_ALLOWED), request_id)
    try:
        given = parse_qs(query, keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return Answer.failed(problem(None, HTTPStatus.BAD_REQUEST), request_id)

    def parameter(name: str) -> str | None:
        return given[name][-1].strip() if name in given else None

    try:
        return await call(route, method, Request(core=core, params=params, query=parameter, body=lambda: body))
    except CashCodeError as error:
        return Answer.failed(problem(error, error.status), request_id)
    except Exception:
        LOG.exception("panel.request_failed", extra={"fields": {"route": route.path}})
        return Answer.failed(problem(None, HTTPStatus.INTERNAL_SERVER_ERROR), request_id)
