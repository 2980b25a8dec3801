"""A widget whose kernel has a Jupyter server: the agent is the server's, and so are the answers to requests."""

from __future__ import annotations

import signal
import subprocess
import sys

from cashcode_jupyter.testing import directive
from tests.kernel.conftest import Kernel
from tests.kernel.page import Page, text_of
from tests.kernel.test_server_link import Cable, Jupyter, cabled, model, server, start_server

__all__ = ["cabled", "model", "server", "start_server"]


def test_panel_and_cell_of_a_kernel_share_the_servers_chats(server: Jupyter) -> None:
    kernel = server.kernel("panel.ipynb")
    page = Page(kernel, "cashcode.panel('chat', 'shared-panel')")
    page.open()
    page.act(type="attach", chat_id="shared-panel")
    page.events("attached")
    kernel.run("%%cashcode --chat shared-panel\n" + directive(say="To the cell."))
    assert text_of(page.events("done")) == "To the cell."
    assert text_of(page.ask("shared-panel", directive(say="To the panel."))) == "To the panel."
    assert "shared-panel" in server.chats()


def test_requests_go_to_the_server_without_the_users_token(server: Jupyter) -> None:
    kernel = server.kernel("requests.ipynb")
    runtime_file = server.runtime / f"jpserver-{server.process.pid}.json"
    kept = runtime_file.read_text()
    runtime_file.unlink()
    try:
        page = Page(kernel)
        page.open()
        body = {"risks": {"network": "deny"}, "tools": {}}
        assert page.request("PUT", "settings/approvals", body)[0] == 200
        over_http = server.request("GET", "cashcode/api/settings/approvals")
        assert over_http["risks"]["network"] == "deny"
        assert page.request("GET", "settings/approvals") == (200, over_http)
        assert page.request("DELETE", "sessions/nobody")[0] == 404
    finally:
        runtime_file.write_text(kept)


def test_a_panel_reconnects_by_itself_and_nothing_is_lost(cabled: tuple[Cable, Kernel, Jupyter]) -> None:
    cable, kernel, _server = cabled
    page = Page(kernel)
    page.open()
    page.act(type="message", chat_id="cut", content=directive(chunks=60, size=6, delay_ms=25))
    events = page.events("delta")
    cable.cut()
    heard = page.hear(lambda message: message["kind"] == "state" and message["state"] == "open")
    events += [message["event"] for message in heard if message["kind"] == "event"]
    assert [message["state"] for message in heard if message["kind"] == "state"] == ["lost", "open"]
    last = max(event.get("seq", 0) for event in events)
    page.act(type="attach", chat_id="cut", after_seq=last)
    events += page.events("done")
    assert len(text_of(events)) == 360


def test_a_kernel_that_found_its_server_by_the_users_token_does_not_lend_it_to_panels(
    cabled: tuple[Cable, Kernel, Jupyter],
) -> None:
    _cable, kernel, _server = cabled
    page = Page(kernel)
    page.open()
    status, body = page.request("GET", "sessions")
    assert (status, body["code"]) == (403, "forbidden")
    assert "token" in body["detail"]


def test_a_server_that_is_gone_is_said_in_words(cabled: tuple[Cable, Kernel, Jupyter]) -> None:
    _cable, kernel, server = cabled
    page = Page(kernel)
    page.open()
    server.process.send_signal(signal.SIGKILL)
    assert server.process.wait() == -signal.SIGKILL
    assert page.state() == {"kind": "state", "state": "lost"}
    assert "does not answer any more" in page.state()["detail"]
    assert page.request("GET", "sessions")[0] == 503


def test_the_kernel_door_is_not_told_to_the_page(server: Jupyter) -> None:
    kernel = server.kernel("secret.ipynb")
    page = Page(kernel)
    secret = kernel.value("__import__('os').environ['CASHCODE_KERNEL_TOKEN']")
    state = kernel.value(f"{page.name}.get_state()")
    assert secret not in repr(state)


def test_a_panel_is_text_where_widgets_cannot_be_shown(kernel: Kernel) -> None:
    shown = kernel.run("import cashcode_jupyter as cashcode\ncashcode.panel('settings')").of("execute_result")
    assert "running notebook" in shown[0]["data"]["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "IPython",
            "--no-banner",
            "-c",
            "import cashcode_jupyter as cashcode; cashcode.panel()",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "running notebook" in done.stdout
