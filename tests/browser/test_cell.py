"""The same panel below a cell, and in Notebook 7."""

from __future__ import annotations

import importlib.util

import pytest

from tests.browser.lab import Lab
from tests.browser.panel import RUN_CELL, Panel, expect
from tests.browser.visit import KERNEL_IDLE, NO_HISTORY, Visitor

SHOW = 'import cashcode_jupyter as cashcode\ncashcode.panel("chat")'
KERNEL_BUSY = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"


@pytest.fixture(autouse=True)
def new_chats(visitor: Visitor) -> None:
    """A cell names its chat before the first turn."""
    visitor.watch.expect(NO_HISTORY)


def test_a_panel_below_a_cell_answers(visitor: Visitor, lab: Lab) -> None:
    lab.notebook("cell.ipynb", SHOW)
    panel = Panel.in_cell(visitor.lab(lab, "cell.ipynb"))
    expect(panel.ask("[[mock:text,say=From below the cell]]")).to_contain_text("From below the cell")


def test_a_panel_below_a_cell_answers_while_the_kernel_is_blocked(visitor: Visitor, lab: Lab) -> None:
    lab.notebook("busy.ipynb", SHOW, "import time\ntime.sleep(30)")
    page = visitor.lab(lab, "busy.ipynb")
    panel = Panel.in_cell(page)
    expect(panel.box).to_be_visible()
    page.wait_for_function(KERNEL_IDLE)
    page.evaluate(RUN_CELL, 1)
    page.wait_for_function(KERNEL_BUSY)
    expect(panel.ask("[[mock:text,say=Not blocked]]", timeout=10_000)).to_contain_text("Not blocked")
    assert page.evaluate(KERNEL_BUSY), "the kernel must still be blocked"
    page.evaluate("void jupyterapp.commands.execute('notebook:interrupt-kernel')")


def test_a_panel_below_a_cell_survives_a_restart_of_the_kernel(visitor: Visitor, lab: Lab) -> None:
    lab.notebook("restart.ipynb", SHOW)
    page = visitor.lab(lab, "restart.ipynb")
    panel = Panel.in_cell(page)
    panel.ask("[[mock:text,say=Before]] the restart")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    page.wait_for_function(KERNEL_IDLE)
    expect(panel.ask("[[mock:text,say=After]] the restart")).to_contain_text("After")
    expect(panel.answers).to_have_count(2)


def test_cell_and_sidebar_show_the_same_turn_live(visitor: Visitor, lab: Lab) -> None:
    lab.notebook("both.ipynb", SHOW)
    page = visitor.lab(lab, "both.ipynb")
    cell = Panel.in_cell(page)
    cell.ask("[[mock:text,say=Hi]] in two places")
    side = Panel.in_sidebar(page)
    side.open_chat("in two places")
    expect(side.answers).to_have_count(1)
    cell.ask("[[mock:text,chunks=30,delay_ms=10]]")
    side.wait_idle()
    expect(side.answers).to_have_count(2)
    assert side.answers.last.inner_text() == cell.answers.last.inner_text()


def test_notebook_7_opens_the_panel_from_its_menu(visitor: Visitor, lab: Lab) -> None:
    if importlib.util.find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed")
    lab.notebook("seven.ipynb", "1 + 1")
    page = visitor.notebook7(lab, "seven.ipynb")
    page.get_by_role("menuitem", name="View").click()
    page.get_by_role("menuitem", name="CashCode").first.click()
    panel = Panel(page, page.locator(".cc-panel").first).ready()
    expect(panel.ask("[[mock:text,say=In Notebook 7]]")).to_contain_text("In Notebook 7")


def test_a_panel_below_a_cell_of_notebook_7_answers(visitor: Visitor, lab: Lab) -> None:
    if importlib.util.find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed")
    lab.notebook("seven-cell.ipynb", SHOW)
    panel = Panel.in_cell(visitor.notebook7(lab, "seven-cell.ipynb"))
    expect(panel.ask("[[mock:text,say=Below a cell]]")).to_contain_text("Below a cell")
