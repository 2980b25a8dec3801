"""What the other tests of this folder rely on: a watched page hides nothing, and a cut wire is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.lab import TOKEN, Lab
from tests.browser.visit import BROKEN_CONNECTION, Visitor
from tests.browser.wire import Wire

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OPEN_SOCKET = """address => new Promise(done => {
  const socket = new WebSocket(address);
  socket.onopen = () => { window.socket = socket; done(true); };
  socket.onerror = () => done(false);
  socket.onclose = () => { window.broken = true; };
})"""


@pytest.fixture
def unwatched(browser: Browser) -> Visitor:
    """Its problems are what the test looks at."""
    return Visitor(browser)


def test_a_request_to_a_foreign_host_is_noticed_and_never_sent(unwatched: Visitor) -> None:
    page = unwatched.context().new_page()
    page.set_content('<img src="https://evil.example/a.png"><script>fetch("https://evil.example/b")</script>')
    page.wait_for_function("() => document.images[0].complete")
    unwatched.close()
    assert any("evil.example/a.png" in problem for problem in unwatched.watch.problems())


def test_an_error_of_a_page_is_noticed(unwatched: Visitor) -> None:
    page = unwatched.context().new_page()
    with page.expect_event("pageerror"):
        page.set_content("<script>setTimeout(() => { throw new Error('broken'); })</script>")
    with page.expect_event("console"):
        page.evaluate("console.error('said')")
    unwatched.close()
    problems = "\n".join(unwatched.watch.problems())
    assert "broken" in problems and "said" in problems


def test_jupyterlab_alone_shows_no_problem(visitor: Visitor, lab: Lab) -> None:
    lab.notebook("alone.ipynb", "1 + 1")
    page = visitor.lab(lab, "alone.ipynb")
    assert page.evaluate("jupyterapp.shell.currentWidget.title.label") == "alone.ipynb"


def test_a_cut_wire_breaks_sockets_and_refuses_new_ones_until_it_is_mended(visitor: Visitor, lab: Lab) -> None:
    visitor.watch.expect(*BROKEN_CONNECTION)
    with Wire(lab.port) as wire:
        page = visitor.lab(lab, port=wire.port)
        address = f"ws://127.0.0.1:{wire.port}/cashcode/ws?token={TOKEN}"
        assert page.evaluate(OPEN_SOCKET, address)
        wire.cut()
        page.wait_for_function("() => window.broken")
        assert not page.evaluate(OPEN_SOCKET, address)
        wire.mend()
        assert page.evaluate(OPEN_SOCKET, address)
