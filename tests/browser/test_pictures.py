"""The pictures of README and docs, and the looks that UI.md asks to judge by: `CASHCODE_SCREENSHOTS=1 pytest …`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.answers import SALES
from tests.browser.lab import Lab, Model
from tests.browser.panel import Panel, expect
from tests.browser.visit import NO_HISTORY, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WANTED = os.environ.get("CASHCODE_SCREENSHOTS")
pytestmark = pytest.mark.skipif(not WANTED, reason="CASHCODE_SCREENSHOTS is not set")

PICTURES = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 200 * 1024
QUESTION = "Why did revenue drop in May?"
CELLS = (
    'import pandas as pd\n\ndf = pd.read_csv("sales.csv")\ndf',
    'df.pivot_table(index="product", columns="month", values="units")',
)
SHARP: dict[str, Any] = {"device_scale_factor": 1.5}


def picture(name: str, shown: Page | Locator) -> None:
    path = PICTURES / f"panel-{name}.png"
    shown.screenshot(path=path, animations="disabled")
    assert path.stat().st_size <= LARGEST, f"{path.name} is {path.stat().st_size // 1024} KB"


@pytest.fixture
def sales(lab: Lab) -> str:
    (lab.work / "sales.csv").write_text(SALES)
    return lab.notebook("sales.ipynb", *CELLS)


@pytest.fixture
def careful(lab: Lab) -> Iterator[None]:
    """Reading asks."""
    policy = lab.call("GET", "settings/approvals")
    lab.call("PUT", "settings/approvals", {**policy, "tools": {"grep": "ask"}})
    yield
    lab.call("PUT", "settings/approvals", policy)


def run_all(page: Page) -> None:
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(page.locator(".jp-OutputArea-output table")).to_have_count(2)
    page.evaluate("jupyterapp.shell.collapseLeft()")


def test_the_sidebar_beside_a_notebook_in_light(visitor: Visitor, lab: Lab, sales: str) -> None:
    page = visitor.lab(lab, sales, width=1280, height=860)
    run_all(page)
    panel = Panel.in_sidebar(page)
    panel.resize(400)
    panel.ask(QUESTION)
    picture("chat-light", page)


def test_the_sidebar_in_dark_with_a_call_that_asks(visitor: Visitor, lab: Lab, sales: str, careful: None) -> None:
    lab.look(theme="JupyterLab Dark")
    page = visitor.lab(lab, sales, width=1280, height=860)
    run_all(page)
    panel = Panel.in_sidebar(page)
    panel.resize(400)
    panel.ask(QUESTION)
    panel.send("Search the project for revenue")
    expect(panel.button("Deny")).to_be_visible()
    picture("chat-dark", page)
    panel.button("Deny").click()
    panel.wait_idle()


def test_the_settings(visitor: Visitor, lab: Lab) -> None:
    panel = Panel.in_sidebar(visitor.lab(lab, width=1280, height=1040, **SHARP))
    panel.resize(400)
    panel.button("Settings").click()
    expect(panel.place.get_by_role("textbox", name="Base URL")).to_be_visible()
    expect(panel.place.get_by_role("group", name="Approvals").get_by_role("combobox").first).to_be_visible()
    picture("settings", panel.place)


def test_the_first_run(visitor: Visitor, make_lab: Callable[..., Lab], model: Model) -> None:
    visitor.watch.expect("status of 400")
    panel = Panel.in_sidebar(visitor.lab(make_lab(None), width=1280, height=900, **SHARP))
    panel.resize(400)
    api = panel.place.get_by_role("group", name="Connect an API")
    api.get_by_role("textbox", name="Base URL").fill(model.url)
    api.get_by_role("button", name="Test connection").click()
    expect(api.get_by_role("status")).to_contain_text("2")
    panel.place.get_by_role("heading", name="Connect a model").scroll_into_view_if_needed()
    picture("first-run", panel.place)


def test_the_panel_below_a_cell(visitor: Visitor, lab: Lab) -> None:
    visitor.watch.expect(NO_HISTORY)
    (lab.work / "sales.csv").write_text(SALES)
    lab.notebook("report.ipynb", 'import cashcode_jupyter as cashcode\n\ncashcode.panel("chat")')
    page = visitor.lab(lab, "report.ipynb", width=1000, height=820)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    panel = Panel.in_cell(page)
    panel.ask(QUESTION)
    picture("cell", page)


@pytest.mark.parametrize("width", [320, 900])
def test_the_narrowest_and_the_widest_panel(visitor: Visitor, lab: Lab, sales: str, width: int) -> None:
    page = visitor.lab(lab, width=1000, height=760, **SHARP)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    panel = Panel.in_sidebar(page) if width < 500 else Panel.in_tab(page)
    panel.resize(width)
    panel.ask(QUESTION)
    picture(f"chat-{width}", panel.place)


def test_the_panel_in_chinese(visitor: Visitor, lab: Lab, sales: str) -> None:
    lab.look(language="zh-CN")
    page = visitor.lab(lab, width=1280, height=700, **SHARP)
    page.get_by_role("tab", name="CashCode").click()
    panel = Panel(page, page.locator("#cashcode-panel .cc-panel")).ready()
    panel.resize(400)
    box = panel.place.get_by_role("textbox").first
    box.fill("五月的收入为什么下降？")
    box.press("Enter")
    expect(panel.place.get_by_role("article").last).to_contain_text("咖啡")
    picture("zh", panel.place)
