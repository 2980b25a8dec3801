"""A code block of an answer goes to the clipboard or into the notebook beside the panel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import Lab
from tests.browser.panel import Panel
from tests.browser.visit import Visitor

CODE = "answer = 6 * 7\nprint(answer)"
SOURCES = "() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.sharedModel.getSource())"


@pytest.fixture
def panel(visitor: Visitor, lab: Lab) -> Panel:
    lab.notebook("code.ipynb", "first = 1", "second = 2")
    context = visitor.context(permissions=["clipboard-read", "clipboard-write"])
    panel = Panel.in_sidebar(visitor.lab(lab, "code.ipynb", context=context))
    panel.ask("Show a code block")
    return panel


def take(panel: Panel, action: str) -> None:
    panel.answers.last.get_by_role("group", name="Code").hover(position={"x": 8, "y": 40})
    panel.answers.last.get_by_role("button", name=action, exact=True).click()


def sources(panel: Panel) -> Any:
    return panel.page.evaluate(SOURCES)


def test_copy_puts_exactly_the_code_on_the_clipboard(panel: Panel) -> None:
    take(panel, "Copy code")
    copied = panel.page.evaluate("navigator.clipboard.readText()")
    assert copied.rstrip("\n") == CODE


def test_insert_below_adds_a_cell_after_the_active_one(panel: Panel) -> None:
    panel.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 0")
    take(panel, "Insert below")
    panel.page.wait_for_function("count => jupyterapp.shell.currentWidget.content.widgets.length === count", arg=3)
    assert [source.rstrip("\n") for source in sources(panel)] == ["first = 1", CODE, "second = 2"]


def test_replace_cell_changes_the_active_cell_alone(panel: Panel) -> None:
    panel.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    take(panel, "Replace cell")
    panel.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel.getSource().includes('6 * 7')"
    )
    assert [source.rstrip("\n") for source in sources(panel)] == ["first = 1", CODE]
