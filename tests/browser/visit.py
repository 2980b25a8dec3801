"""One browser, and for each test a context of its own that is watched.

A test fails when a page raised, wrote an error to the console, or asked any host but this machine for anything.
What a test provokes on purpose it names with `Watch.expect`, with the reason in the test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.browser.lab import TOKEN, Lab
from tests.browser.panel import RESTORED

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Request, Route, WebSocket

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
LOCAL_SCHEMES = {"data", "blob", "about"}
KERNEL_IDLE = """() => {
  const kernel = window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel;
  return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""

# JupyterLab's and Notebook's own noise, seen without our extension.
NOT_OURS = (
    # Notebook 7.6 registers plugins whose settings schema it does not serve.
    r"Cannot read properties of undefined \(reading 'schema'\)",
    r"Command 'filebrowser:open-path' not registered",
    # A page that is left or whose server is restarted asks for what it no longer gets.
    r"WebSocket connection to 'ws://127\.0\.0\.1:\d+/\S*(api/events/subscribe|api/kernels|terminals)",
)

# What a browser and JupyterLab say when a test breaks the connection.
BROKEN_CONNECTION = (r"net::ERR_\w+", r"WebSocket connection to", r"Failed to fetch", r"status of 5\d\d")
# A panel that is given a chat asks for its history; before the first turn there is none, and the browser says so.
NO_HISTORY = r"status of 404 .*/messages\?limit="


@dataclass
class Watch:
    """What went wrong in the pages of one test."""

    expected: list[re.Pattern[str]] = field(default_factory=lambda: [re.compile(text) for text in NOT_OURS])
    seen: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def expect(self, *patterns: str) -> None:
        """Errors with these words are what the test is about."""
        self.expected += [re.compile(pattern) for pattern in patterns]

    def problems(self) -> list[str]:
        wrong = [text for text in self.seen if not any(known.search(text) for known in self.expected)]
        return wrong + [f"asked a foreign host: {url}" for url in self.foreign]

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            where = message.location.get("url", "")
            self.seen.append(f"console: {message.text[:500]} ({where})")

    def on_page_error(self, error: Error) -> None:
        self.seen.append(f"page error: {error}"[:800])

    def on_address(self, url: str) -> bool:
        """True when `url` stays on this machine."""
        parts = urlsplit(url)
        local = parts.scheme in LOCAL_SCHEMES or parts.hostname in LOOPBACK
        if not local:
            self.foreign.append(url[:200])
        return local


class Visitor:
    """Opens pages for one test and closes them all."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.watch = Watch()

    def context(self, *, width: int = 1280, height: int = 860, **options: Any) -> BrowserContext:
        context = self._browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(15_000)
        context.on("console", self.watch.on_console)
        context.on("weberror", lambda error: self.watch.on_page_error(error.error))
        context.on("request", self._on_request)
        context.on("page", self._on_page)
        context.route(re.compile(r"^(?!https?://(127\.0\.0\.1|localhost|\[::1\])[:/]|data:|blob:)"), self._refuse)
        self._contexts.append(context)
        return context

    def _on_page(self, page: Page) -> None:
        page.on("websocket", self._on_socket)

    def _on_socket(self, socket: WebSocket) -> None:
        self.watch.on_address(socket.url)

    def _on_request(self, request: Request) -> None:
        self.watch.on_address(request.url)

    def _refuse(self, route: Route) -> None:
        route.abort()

    def lab(
        self,
        lab: Lab,
        notebook: str | None = None,
        *,
        context: BrowserContext | None = None,
        port: int | None = None,
        script: str | None = None,
        **options: Any,
    ) -> Page:
        """JupyterLab, at this notebook with its kernel ready when one is named. `port` is that of a `Wire`."""
        page = (context or self.context(**options)).new_page()
        if script:
            page.add_init_script(script)
        address = lab.address.replace(f":{lab.port}/", f":{port}/") if port else lab.address
        page.goto(f"{address}lab{f'/tree/{notebook}' if notebook else ''}?reset&token={TOKEN}")
        page.wait_for_function("() => window.jupyterapp")
        page.evaluate(RESTORED)
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        if notebook:
            page.wait_for_function(KERNEL_IDLE, timeout=60_000)
        else:
            # The launcher comes after everything else and takes the focus; a person has not typed by then.
            page.wait_for_function("() => document.activeElement.closest('.jp-Launcher')")
        return page

    def notebook7(self, lab: Lab, notebook: str, **options: Any) -> Page:
        page = self.context(**options).new_page()
        page.goto(f"{lab.address}notebooks/{notebook}?token={TOKEN}")
        page.wait_for_function("() => window.jupyterapp")
        page.evaluate(RESTORED)
        page.wait_for_function(KERNEL_IDLE, timeout=60_000)
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()
