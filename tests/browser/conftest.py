"""A real JupyterLab, the scripted model and the system's Chromium, shared by all tests of this folder.

Without Playwright, Chromium, JupyterLab or a built panel these tests are skipped; under `CI`, or where
`CASHCODE_BROWSER_TESTS=required` asks for them, that is a failure.
Playwright's loop runs in this thread for as long as the browser lives, so these fixtures end with the package:
tests that run later need the thread for loops of their own.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.answers import ANSWERS
from tests.browser.lab import BUILT, Lab, Model
from tests.browser.panel import Panel
from tests.browser.visit import FLAGS, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def missing() -> str | None:
    """What these tests cannot do without and is not here."""
    for module, install in (("playwright", "pip install playwright"), ("jupyterlab", "pip install jupyterlab")):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed ({install})"
    if shutil.which("chromium") is None:
        return "no `chromium` on PATH (apt-get install chromium)"
    if not (BUILT / "package.json").is_file():
        return "the panel is not built (pip install -e . builds it)"
    return None


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if reason := missing():
        if os.environ.get("CI") or os.environ.get("CASHCODE_BROWSER_TESTS") == "required":
            pytest.fail(f"The browser tests must run here, but {reason}")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def model(browser: Browser) -> Iterator[Model]:
    scripted = Model(ANSWERS)
    yield scripted
    scripted.end()


@pytest.fixture(scope="package")
def shared_lab(model: Model) -> Iterator[Lab]:
    lab = Lab(model)
    try:
        yield lab.start()
    finally:
        lab.end()


@pytest.fixture
def lab(shared_lab: Lab) -> Lab:
    """The shared JupyterLab with a configured model, in the light theme and English until the test says else."""
    shared_lab.look()
    return shared_lab


@pytest.fixture
def make_lab(browser: Browser) -> Iterator[Callable[..., Lab]]:
    """A JupyterLab of this test's own: `make_lab(model)`, `make_lab(None)` for nothing configured."""
    made: list[Lab] = []

    def make(model: Model | None, *, base_url: str = "/") -> Lab:
        made.append(Lab(model, base_url=base_url))
        return made[-1].start()

    yield make
    for lab in made:
        lab.end()


@pytest.fixture
def visitor(browser: Browser, make_lab: Callable[..., Lab]) -> Iterator[Visitor]:
    """Pages end before the servers that `make_lab` started."""
    visitor = Visitor(browser)
    yield visitor
    visitor.close()
    assert not visitor.watch.problems(), "\n".join(visitor.watch.problems())


@pytest.fixture
def panel(visitor: Visitor, lab: Lab) -> Panel:
    """A panel in the sidebar of a page without a notebook."""
    return Panel.in_sidebar(visitor.lab(lab))
