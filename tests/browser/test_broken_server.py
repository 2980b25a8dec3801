"""A server that answers wrongly is said in a sentence; no view is ever blank."""

from __future__ import annotations

import re

import pytest

from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

API = re.compile(r"/cashcode/api/")
ANSWERS = {
    "403": (403, "application/json", '{"code": "forbidden", "detail": "You may not do this.", "request_id": "r"}'),
    "404": (404, "text/html", "<html><title>404</title><h1>Not found</h1></html>"),
    "500": (500, "application/json", '{"code": "internal", "detail": "It failed here.", "request_id": "r"}'),
    "HTML": (200, "text/html", "<!doctype html><title>Login</title><form>Sign in</form>"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_view_says_what_is_wrong_when_the_server_answers(visitor: Visitor, lab: Lab, kind: str) -> None:
    status, content_type, body = ANSWERS[kind]
    visitor.watch.expect(rf"status of {status}")
    page = visitor.lab(lab)
    page.route(API, lambda route: route.fulfill(status=status, content_type=content_type, body=body))
    panel = Panel.in_sidebar(page)
    expect(panel.region("chat")).to_be_visible()
    panel.button("Chats").click()
    says(panel)
    panel.button("Back to the chat").click()
    panel.button("Settings").click()
    says(panel)
    page.unroute(API)
    panel.place.get_by_role("button", name="Retry").first.click()
    expect(panel.place.get_by_role("textbox", name="Base URL")).to_be_visible()


def says(panel: Panel) -> None:
    expect(panel.alert.first).to_be_visible()
    sentence = panel.alert.first.inner_text()
    assert re.search(r"\w+ \w+ \w+", sentence), sentence
    assert "<" not in sentence and "Traceback" not in sentence and "[object" not in sentence, sentence


def test_a_failing_model_is_said_with_a_way_on(panel: Panel) -> None:
    panel.send("[[mock:text,fault=500,times=0]]")
    expect(panel.alert.first).to_be_visible(timeout=60_000)
    expect(panel.button("Retry").first).to_be_visible()
