"""A panel in a cell's output and its connection to the agent: the messages of one widget, both ways.

In come `hello`, `action`, `request`, `cancel` and `bye`, out go `state`, `event` and `answer`. All views of a
widget hear every message, so they share one connection; it is there from the first `hello` to the last `bye` and
is made again when it breaks. Nothing that a page sends raises: what is wrong with it comes back as an `error`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from cashcode_jupyter import logs
from cashcode_jupyter.i18n import _
from cashcode_jupyter.kernel.failures import ServerGone
from cashcode_jupyter.kernel.link import Door, Link, LinkLost
from cashcode_jupyter.protocol.errors import BadFrame, CashCodeError, InternalError

if TYPE_CHECKING:
    from cashcode_jupyter.kernel.background import Background

LOG = logs.log("panel")
MAX_MESSAGE = 1 << 20
MAX_WAITING = 256
MAX_REQUESTS = 32
MAX_VIEWS = 64
PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0)

Message = dict[str, Any]


class TooLarge(BadFrame):
    status = 413


class PanelLink:
    """`post` hands a message to the widget's views; it is called on the background loop."""

    def __init__(self, background: Background, door: Door, post: Callable[[Message], None]) -> None:
        self.background = background
        self._door = door
        self._post = post
        self._views: list[str] = []
        self._visit = 0
        self._serving: Future[None] | None = None
        self._link: Link | None = None
        self._tried = asyncio.Event()
        self._impatient = asyncio.Event()
        self._actions: asyncio.Queue[Message] = asyncio.Queue(MAX_WAITING)
        self._requests: dict[int | str, Future[None]] = {}
        self._sent: dict[str, int] = {}

    def hear(self, message: object) -> None:
        """A message of a view; from any thread."""
        self.background.call(self._hear, message)

    def close(self) -> None:
        """The widget is gone; from any thread."""
        self.background.call(self._leave)

    def _hear(self, message: object) -> None:
        if not isinstance(message, dict):
            self._refuse(BadFrame("typed JSON envelope required"))
            return
        match message.get("kind"):
            case "hello":
                self._enter(_view(message))
            case "bye":
                with suppress(ValueError):
                    self._views.remove(_view(message))
                if not self._views:
                    self._leave()
            case "action":
                self._act(message.get("action"))
            case "request":
                self._request(message)
            case "cancel":
                if _is_id(number := message.get("id")) and (asked := self._requests.get(number)):
                    asked.cancel()
            case _:
                self._refuse(BadFrame("unknown kind of message"))

    def _refuse(self, error: CashCodeError) -> None:
        self._post({"kind": "event", "event": {"event": "error", **error.as_dict()}})

    def _state(self, state: str, detail: str = "") -> None:
        self._post({"kind": "state", "state": state, **({"detail": detail} if detail else {})})

    def _enter(self, view: str) -> None:
        # Views without a name are counted; one that greets twice then keeps the connection a little too long.
        if not view or view not in self._views:
            self._views = [*self._views, view][-MAX_VIEWS:]  # a page that is reloaded says no bye
        if self._link is not None:
            self._state("open")
        elif self._serving is None:
            self._visit += 1
            self._serving = self.background.submit(self._serve(self._visit))
        else:
            self._impatient.set()

    def _leave(self) -> None:
        self._views.clear()
        self._visit += 1
        self._close_link()
        for work in [self._serving, *self._requests.values()]:
            if work is not None:
                work.cancel()
        self._serving = None

    def _close_link(self) -> None:
        self._link = None
        self._tried.clear()
        while not self._actions.empty():
            self._actions.get_nowait()

    async def _serve(self, visit: int) -> None:
        """Keep a connection while there are views; `visit` tells whether they left and came again meanwhile."""
        tries, reached = 0, False
        try:
            while True:
                try:
                    link = await (self._door.reopen() if reached else self._door.open())
                except CashCodeError as error:
                    self._state("lost", error.detail)
                    self._tried.set()
                    await self._pause(PAUSES[min(tries, len(PAUSES) - 1)])
                    tries += 1
                else:
                    tries, reached = 0, True
                    await self._carry(link, visit)
                    self._state("lost")
        except asyncio.CancelledError:
            if visit == self._visit:  # the whole session ends, the views are still there
                self._serving = None
                self._state("lost")
            raise
        except Exception:
            LOG.exception("panel.failed")
            if visit == self._visit:
                self._serving = None
                self._state("lost", InternalError().detail)

    async def _pause(self, seconds: float) -> None:
        self._impatient.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._impatient.wait(), seconds)

    async def _carry(self, link: Link, visit: int) -> None:
        """Frames both ways until the connection breaks."""
        sending = asyncio.create_task(self._send(link), name="cashcode: panel")
        try:
            self._link = link
            self._sent.clear()
            self._tried.set()
            self._state("open", self._door.take_notice())
            async with aclosing(cast("AsyncGenerator[Message]", link.events())) as events:
                async for event in events:
                    if type(seq := event.get("seq")) is int:
                        self._sent[str(event.get("chat_id"))] = seq
                    self._post({"kind": "event", "event": event})
        except LinkLost:
            pass
        except CashCodeError as error:
            self._refuse(error)
        finally:
            if visit == self._visit:
                self._close_link()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            await link.aclose()

    async def _send(self, link: Link) -> None:
        # Whoever reads notices a lost connection as well, and makes it again.
        with suppress(LinkLost):
            while True:
                await link.send(await self._actions.get())

    def _act(self, action: object) -> None:
        if not isinstance(action, dict):
            self._refuse(BadFrame("typed JSON envelope required"))
        elif _size(action) > MAX_MESSAGE:
            self._refuse(TooLarge(_("The message with what is attached is too large; at most 1 MiB is taken.")))
        elif self._link is None:
            self._state("lost")
        elif self._actions.full():
            self._refuse(BadFrame(_("Too many messages at once; try again in a moment.")))
        else:
            self._actions.put_nowait(self._shared(action))

    def _shared(self, action: Message) -> Message:
        """An `attach` of one view never skips what the other views have not been sent yet."""
        after, sent = action.get("after_seq"), self._sent.get(str(action.get("chat_id")))
        if action.get("type") == "attach" and type(after) is int and sent is not None:
            return action | {"after_seq": min(after, sent)}
        return action

    def _request(self, message: Message) -> None:
        number = message.get("id")
        if not _is_id(number) or number in self._requests:
            self._refuse(BadFrame("a request needs an id of its own"))
        elif _size(message) > MAX_MESSAGE:
            self._fail(number, TooLarge(_("The request is too large; at most 1 MiB is taken.")))
        elif self._serving is None:
            self._fail(number, ServerGone(_("There is no connection to the agent.")))
        elif len(self._requests) >= MAX_REQUESTS:
            self._fail(number, ServerGone(_("Too many requests are under way; try again in a moment.")))
        else:
            asked = self._requests[number] = self.background.submit(self._ask(number, message))
            asked.add_done_callback(lambda _asked: self._requests.pop(number, None))

    def _fail(self, number: int | str, error: CashCodeError) -> None:
        self._post({"kind": "answer", "id": number, "status": error.status, "body": error.as_dict()})

    async def _ask(self, number: int | str, message: Message) -> None:
        method, path, body = (message.get(name) for name in ("method", "path", "body"))
        try:
            if not isinstance(method, str) or not isinstance(path, str):
                raise BadFrame("a request needs a method and a path")
            # A panel asks as soon as it has greeted, so a request waits for the try that is under way.
            await self._tried.wait()
            if self._link is None:
                raise ServerGone(_("There is no connection to the agent."))
            found = await self._link.request(method, path, body)
        except LinkLost:
            self._fail(number, ServerGone(_("The connection to the agent broke before it answered.")))
        except CashCodeError as error:
            self._fail(number, error)
        except Exception:
            LOG.exception("panel.request_failed")
            self._fail(number, InternalError())
        else:
            self._post({"kind": "answer", "id": number, "status": int(found.status), "body": found.body})


def _view(message: Message) -> str:
    """Which view speaks, where it says it."""
    view = message.get("view")
    return view[:64] if isinstance(view, str) else ""


def _is_id(number: object) -> TypeGuard[int | str]:
    return type(number) is int or (isinstance(number, str) and number.isascii() and 0 < len(number) <= 64)


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
