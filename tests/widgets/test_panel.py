"""The widget that `cashcode.panel` and `%cashcode panel` make, in a real kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from cashcode_jupyter.kernel.chats import new_chat_id
from cashcode_jupyter.protocol import chat_names
from tests.kernel.conftest import Kernel, clean_environment

WIDGET = "application/vnd.jupyter.widget-view+json"
IMPORT = "import cashcode_jupyter as cashcode\n"


def opened(kernel: Kernel, code: str) -> dict[str, Any]:
    """What the page is told of the one widget that `code` makes."""
    ran = kernel.run(code)
    assert not ran.of("error"), ran.error
    states = [content["data"]["state"] for content in ran.of("comm_open")]
    [state] = [state for state in states if state["_model_name"] == "AnyModel"]
    return state


def test_loading_the_extension_and_naming_panel_loads_no_widget_library() -> None:
    script = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.instance().run_line_magic('load_ext', 'cashcode_jupyter')\n"
        "import cashcode_jupyter\n"
        "cashcode_jupyter.panel\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('anywidget', 'ipywidgets', 'traittypes')])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=clean_environment())
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_page_is_told_view_chat_and_height_and_gets_the_script(kernel: Kernel) -> None:
    state = opened(kernel, IMPORT + "cashcode.panel('settings', chat='plans', height=480)")
    assert (state["_view"], state["_chat_id"], state["_height"]) == ("settings", "plans", 480)
    assert "export" in state["_esm"]
    assert ".cc-panel" in state["_css"]


def test_without_a_name_the_panel_shows_the_notebooks_chat(kernel: Kernel) -> None:
    state = opened(kernel, "%cashcode panel")
    assert state["_view"] == "chat"
    assert state["_chat_id"] == kernel.run("%cashcode chat").streamed.strip()


@pytest.mark.parametrize("name", ["plans", "März: der Bericht", new_chat_id()])
def test_a_name_means_the_same_chat_as_in_a_cell(kernel: Kernel, name: str) -> None:
    state = opened(kernel, IMPORT + f"cashcode.panel(chat={name!r})")
    assert state["_chat_id"] == chat_names.chat_id(name)


def test_the_magic_shows_the_panel_that_it_names(kernel: Kernel) -> None:
    ran = kernel.run("%cashcode panel settings")
    assert WIDGET in ran.shown
    [state] = [c["data"]["state"] for c in ran.of("comm_open") if "_view" in c["data"]["state"]]
    assert state["_view"] == "settings"


@pytest.mark.parametrize("view", ["skills", "mcp", "watches"])
def test_a_view_of_a_later_version_says_so(kernel: Kernel, view: str) -> None:
    ran = kernel.run(f"%cashcode panel {view}")
    assert "not part of version" in ran.error["evalue"]
    assert "settings" in ran.error["evalue"]
    assert len(ran.error["traceback"]) == 1


@pytest.mark.parametrize("code", ["%cashcode panel chta", IMPORT + "cashcode.panel('chta')"])
def test_a_wrong_view_names_the_choices_in_one_line(kernel: Kernel, code: str) -> None:
    ran = kernel.run(code)
    assert ran.error["ename"] == "UnknownView"
    assert "chat, settings" in ran.error["evalue"]
    assert len(ran.error["traceback"]) == 1
    assert ran.kinds == ["error"]


@pytest.mark.parametrize(
    "height", [0, -1, True, 1e3, 10**6, "", "480", "1px; color: red", "calc(1px)", "9" * 6 + "px"]
)
def test_a_height_that_is_no_length_is_refused(kernel: Kernel, height: object) -> None:
    ran = kernel.run(IMPORT + f"cashcode.panel(height={height!r})")
    assert "is not a height" in ran.error["evalue"]


@pytest.mark.parametrize("height", [240, "30em", "60vh", "12.5rem"])
def test_pixels_and_lengths_are_heights(kernel: Kernel, height: object) -> None:
    assert opened(kernel, IMPORT + f"cashcode.panel(height={height!r})")["_height"] == height


def test_a_blank_chat_name_is_refused(kernel: Kernel) -> None:
    assert "needs a name" in kernel.run(IMPORT + "cashcode.panel(chat='  ')").error["evalue"]


def test_it_is_a_sentence_where_widgets_are_not_shown_and_always_the_same(kernel: Kernel) -> None:
    shown = [kernel.run(IMPORT + "cashcode.panel()").of("execute_result")[0]["data"] for _again in range(2)]
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert "running notebook" in shown[0]["text/plain"]
    assert set(shown[0]) == {"text/plain", WIDGET}
    assert kernel.value("repr(cashcode.panel())") == "<CashCode panel: chat>"


def test_a_closed_panel_is_gone_from_the_page_and_shows_as_text(kernel: Kernel) -> None:
    ran = kernel.run(IMPORT + "closed = cashcode.panel()\nclosed.close()\nclosed.close()\nclosed")
    assert len(ran.of("comm_close")) >= 1
    assert ran.of("execute_result")[0]["data"] == {"text/plain": "<CashCode panel: chat>"}


def test_missing_files_are_said_with_what_to_do(kernel: Kernel) -> None:
    patched = (
        "from pathlib import Path\nfrom unittest import mock\n"
        "from cashcode_jupyter.widgets import panel as widget\n"
        "with mock.patch.object(widget, 'static_folder', lambda: Path('nowhere')):\n    cashcode.panel()"
    )
    ran = kernel.run(IMPORT + patched)
    assert ran.error["ename"] == "NotBuilt"
    assert "jlpm build:prod" in ran.error["evalue"]
    assert len(ran.error["traceback"]) == 1


def test_the_state_that_a_notebook_may_keep_holds_no_setting(kernel: Kernel) -> None:
    state = opened(kernel, IMPORT + "cashcode.panel()")
    shown = json.dumps({name: value for name, value in state.items() if name not in ("_esm", "_css")})
    assert kernel.value("__import__('os').environ['CASHCODE_CONFIG_DIR']") not in shown
    assert {name for name in state if name in ("_view", "_chat_id", "_height")} == {"_view", "_chat_id", "_height"}
