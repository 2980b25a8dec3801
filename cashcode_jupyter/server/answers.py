"""How every answer looks: JSON, with a request id, and an error as `{code, detail, request_id}`.

Each request leaves one line in the log: method, route pattern, status and duration, never content.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from contextlib import ExitStack
from math import ceil
from typing import TYPE_CHECKING, Any

from tornado import web

from cashcode_jupyter import logs
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.resources.answer import problem

if TYPE_CHECKING:
    from cashcode_jupyter.server.door import Door

LOG = logs.log("http")
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
READING = ("GET", "HEAD", "OPTIONS")


def encode(value: dict[str, Any]) -> bytes:
    """JSON as UTF-8; a lone surrogate, which UTF-8 cannot carry, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


class JsonAnswers(web.RequestHandler):
    """Mixin for any tornado handler. Subclasses extend `admit`, which says who may come in."""

    route = ""
    _request_id = ""
    _scope: ExitStack | None = None

    def initialize(self, route: str) -> None:
        """`route` is the pattern that the log names, e.g. `sessions/{chat_id}`."""
        self.route = route

    @property
    def door(self) -> Door:
        return self.settings["cashcode"]

    @property
    def request_id(self) -> str:
        if not self._request_id:
            given = self.request.headers.get("X-Request-ID", "")
            self._request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        return self._request_id

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("X-Request-ID", self.request_id)

    async def prepare(self) -> None:
        self._scope = ExitStack()
        self._scope.enter_context(logs.ids(request_id=self.request_id))
        await self.admit()

    async def admit(self) -> None:
        """Raise an error unless the request may go on."""
        prepared = super().prepare()
        if prepared is not None:
            await prepared

    def answer(self, value: dict[str, Any]) -> None:
        self.finish(encode(value))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        exc_info = kwargs.get("exc_info") or (None, None, None)
        found = problem(exc_info[1], status_code)
        self.set_status(found.status)
        self.set_header("Content-Type", "application/json")
        if found.retry_after is not None:
            self.set_header("Retry-After", str(ceil(found.retry_after)))
        self.finish(encode(found.body(self.request_id)))

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        if not isinstance(value, (CashCodeError, web.HTTPError)):
            LOG.error("http.failed", exc_info=value, extra={"fields": {"route": self.route}})

    def on_finish(self) -> None:
        status = self.get_status()
        quiet = self.request.method in READING and status < 400
        logs.event(
            LOG,
            logging.DEBUG if quiet else logging.INFO,
            "http.request",
            method=self.request.method,
            route=self.route,
            status=status,
            duration_ms=round(self.request.request_time() * 1000, 1),
        )
        if self._scope is not None:
            self._scope.close()
        super().on_finish()
