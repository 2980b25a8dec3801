"""The scripted model as a whole: its server on a daemon thread, and what a test asks it afterwards."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from types import TracebackType

from cashcode_jupyter.testing.answers import Answers
from cashcode_jupyter.testing.completions import Completions
from cashcode_jupyter.testing.http import HttpServer
from cashcode_jupyter.testing.records import Record, RequestLog
from cashcode_jupyter.testing.routes import Routes

HOST = "127.0.0.1"
WINDOW = 32_768


class ScriptedModel:
    """An OpenAI-compatible server whose answers the requests themselves choose (`directive.py`).

    `answers` are rules for the last user message, `default` is the answer where nothing else holds, `quirks` are
    added to every request's own, `strict` refuses what any strict server would, `api_key` is asked for where
    given, `vision` names the models that see pictures, as Ollama tells it. Nothing runs before `start` (or `with`);
    `stop` ends the thread, every connection and every task.
    """

    def __init__(
        self,
        *,
        answers: Mapping[str, str] | Mapping[re.Pattern[str], str] | None = None,
        default: str | None = None,
        strict: bool = False,
        quirks: Sequence[str] = (),
        api_key: str | None = None,
        models: Sequence[str] = ("mock", "mock-strict"),
        context_window: int = WINDOW,
        loaded_window: int | None = None,
        vision: Collection[str] = (),
        host: str = HOST,
        port: int = 0,
    ) -> None:
        self._host = host
        self._wanted_port = port
        self._port = 0
        self._log = RequestLog()
        completions = Completions(
            self._log,
            Answers(answers, default),
            strict=strict,
            context_window=context_window,
            quirks=tuple(quirks),
        )
        self._routes = Routes(
            self._log,
            completions,
            models=tuple(models),
            context_window=context_window,
            loaded_window=loaded_window or context_window,
            api_key=api_key,
            vision=vision,
        )
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`, also Ollama's base URL. Raises RuntimeError before the server listens."""
        if not self._port:
            raise RuntimeError("the scripted model is not running: use `with ScriptedModel() as model:`")
        return f"http://{self._host}:{self._port}"

    @property
    def url(self) -> str:
        """The base URL for an OpenAI client."""
        return f"{self.origin}/v1"

    @property
    def port(self) -> int:
        return self._port

    @property
    def requests(self) -> list[Record]:
        """The completion requests since the start or the last `clear`, oldest first."""
        return list(self._log.requests)

    @property
    def visits(self) -> list[str]:
        """Every request but those to the log, as `GET /v1/models`."""
        return list(self._log.visits)

    @property
    def aborted(self) -> int:
        """How many completion requests the client left before the answer was whole."""
        return self._log.aborted

    @property
    def refused(self) -> list[str]:
        """What the strict validator (or the reading of a directive) objected to, in order."""
        return [record.refused for record in self._log.requests if record.refused is not None]

    @property
    def connections(self) -> int:
        """How many connections were ever accepted."""
        return self._log.connections

    @property
    def open_connections(self) -> int:
        return self._log.open_connections

    def clear(self) -> None:
        """Empties the log."""
        self._log.clear()

    def wait_for(self, holds: Callable[[ScriptedModel], bool], timeout: float = 5.0) -> bool:
        """Blocks until `holds(model)`, asked again at each change. False when `timeout` seconds were not enough."""
        return self._log.wait_for(lambda: holds(self), timeout)

    async def until(self, holds: Callable[[ScriptedModel], bool], timeout: float = 5.0) -> bool:
        """`wait_for` for a coroutine: nothing blocks."""
        return await self._log.until(lambda: holds(self), timeout)

    async def serve(self, ready: Callable[[int], None], stop: Callable[[], Awaitable[object]]) -> None:
        """Listens in the running loop until `stop()` returns. Raises OSError when the port is taken."""
        server = HttpServer(self._routes.respond, self._count)
        self._port = await server.listen(self._host, self._wanted_port)
        try:
            ready(self._port)
            await stop()
        finally:
            await server.aclose()

    def _count(self, change: int) -> None:
        self._log.open_connections += change
        self._log.connections += change > 0
        self._log.changed()

    def start(self) -> ScriptedModel:
        """Listens on a daemon thread; returns when it does. Raises OSError when the port is taken."""
        if self._thread is not None:
            raise RuntimeError("the scripted model runs already")
        listening = threading.Event()
        problem: list[OSError] = []
        self._thread = threading.Thread(
            target=self._run, args=(listening, problem), name="cashcode-scripted-model", daemon=True
        )
        self._thread.start()
        listening.wait()
        if problem:
            self._thread.join()
            self._thread = None
            raise problem[0]
        return self

    def _run(self, listening: threading.Event, problem: list[OSError]) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            await self.serve(lambda port: listening.set(), self._stop.wait)

        try:
            asyncio.run(main())
        except OSError as error:
            problem.append(error)
        finally:
            listening.set()

    def stop(self) -> None:
        """Ends the server and waits for its thread. Calling it twice does nothing."""
        thread, self._thread = self._thread, None
        if thread is None or self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        thread.join()
        self._port = 0

    def __enter__(self) -> ScriptedModel:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
