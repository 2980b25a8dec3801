"""The panel as a person meets it: everything is found by role and name (docs/PROTOCOL, "accessible names")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

RESTORED = "async () => { await jupyterapp.restored; }"
RUN_CELL = """index => {
  const { content } = jupyterapp.shell.currentWidget;
  content.activeCellIndex = index;
  void jupyterapp.commands.execute('notebook:run-cell');
}"""


def expect(actual: Locator):
    """Playwright's assertions, imported when a test runs: without Playwright the modules still load and skip."""
    from playwright.sync_api import expect as playwright_expect

    return playwright_expect(actual)


class Panel:
    """One panel somewhere in a page. `place` holds the whole panel; its regions change with the view."""

    def __init__(self, page: Page, place: Locator) -> None:
        self.page = page
        self.place = place

    @classmethod
    def in_sidebar(cls, page: Page) -> Panel:
        page.wait_for_function("() => window.jupyterapp")
        page.evaluate(RESTORED)
        tab = page.get_by_role("tab", name="CashCode")
        if tab.get_attribute("aria-selected") != "true":
            tab.click()
        return cls(page, page.locator("#cashcode-panel .cc-panel")).ready()

    @classmethod
    def in_tab(cls, page: Page) -> Panel:
        """In the main area, by its command."""
        page.evaluate("void jupyterapp.commands.execute('cashcode:open-tab')")
        return cls(page, page.locator("#jp-main-dock-panel .cc-panel")).ready()

    @classmethod
    def in_cell(cls, page: Page, index: int = 0) -> Panel:
        """Below the cell at `index`, which is run."""
        page.evaluate(RUN_CELL, index)
        return cls(page, page.locator(".jp-OutputArea .cc-panel").first).ready()

    def ready(self) -> Panel:
        self.place.wait_for()
        return self

    def region(self, view: Literal["chat", "settings"] = "chat") -> Locator:
        return self.place.get_by_role("region", name=f"CashCode {view}")

    @property
    def box(self) -> Locator:
        return self.place.get_by_role("textbox", name="Message CashCode")

    @property
    def messages(self) -> Locator:
        return self.place.get_by_role("list", name="Messages")

    @property
    def mine(self) -> Locator:
        return self.place.get_by_role("article", name="You", exact=True)

    @property
    def answers(self) -> Locator:
        return self.place.get_by_role("article", name="CashCode", exact=True)

    def button(self, name: str) -> Locator:
        return self.place.get_by_role("button", name=name, exact=True)

    @property
    def alert(self) -> Locator:
        return self.place.get_by_role("alert")

    def send(self, text: str) -> None:
        self.box.fill(text)
        self.button("Send").click()

    def resize(self, width: int) -> None:
        """Makes the panel this wide: a sidebar's by its handle, a tab's by the window."""
        now = self.place.bounding_box()
        window = self.page.viewport_size
        assert now and window
        if self.page.locator("#jp-main-dock-panel .cc-panel").count():
            wider = width - int(now["width"])
            self.page.set_viewport_size({"width": window["width"] + wider, "height": window["height"]})
        else:
            x, y = now["x"] - 2, now["y"] + now["height"] / 2
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x + now["width"] - width, y, steps=4)
            self.page.mouse.up()
        self.page.wait_for_function(
            "([node, wanted]) => Math.abs(node.getBoundingClientRect().width - wanted) < 3",
            arg=[self.place.element_handle(), width],
        )

    @property
    def chats(self) -> Locator:
        return self.place.get_by_role("list", name="Chats")

    def open_chat(self, title: str) -> None:
        """By the list of chats."""
        self.button("Chats").click()
        self.chats.get_by_role("button", name=title).first.click()

    def stop(self) -> None:
        """Stop is disabled for the time of a double click on Send; the click waits for it."""
        self.button("Stop").click()
        self.wait_idle()

    def wait_idle(self, timeout: float = 30_000) -> None:
        """Until no turn runs: the stop button is a send button again."""
        expect(self.button("Stop")).to_have_count(0, timeout=timeout)

    def ask(self, text: str, *, timeout: float = 30_000) -> Locator:
        """Sends and waits for the whole answer, which it gives back."""
        before = self.answers.count()
        self.send(text)
        expect(self.answers).to_have_count(before + 1, timeout=timeout)
        self.wait_idle(timeout)
        return self.answers.last
