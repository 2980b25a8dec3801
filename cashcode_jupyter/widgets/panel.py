"""The widget: the panel's JavaScript and style, what it shows first, and a pipe to whoever answers it.

It knows neither chats nor the agent. Its representation is always the same, so that a notebook's stored output is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from cashcode_jupyter import __version__
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError

VIEWS, LATER = ("chat", "settings"), ("skills", "mcp", "watches")
FILES = ("panel.js", "panel.css")
MAX_HEIGHT = 10_000
LENGTH = re.compile(r"\d{1,5}(\.\d{1,3})?(px|em|rem|vh|cm|in|pt)")


class NotBuilt(CashCodeError):
    """The panel's built files are not in this installation."""

    code, status = "internal", 501


class BadHeight(CashCodeError):
    code, status = "bad_setting", 422


class UnknownView(CashCodeError):
    """There is no such view; the sentence names those that there are."""

    code, status = "bad_setting", 422


def static_folder() -> Path:
    """Where the build puts the panel's files."""
    return Path(__file__).parent / "static"


def built_files() -> tuple[str, str]:
    """The text of the panel's script and style; `NotBuilt` says how they are made."""
    folder = static_folder()
    try:
        script, style = ((folder / name).read_text("utf-8") for name in FILES)
    except OSError as error:
        raise NotBuilt(
            _(
                "The panel's files are not built in this checkout. Run `pip install .`, or `jlpm install` and "
                "`jlpm build:prod` in the folder labextension (Node.js 20 or later), then restart the kernel."
            )
        ) from error
    return script, style


def checked_view(view: str) -> str:
    """`view` if it can be shown; raises `UnknownView`."""
    if view in VIEWS:
        return view
    choices = ", ".join(VIEWS)
    if view in LATER:
        sentence = _("The panel's view {view!r} is not part of version {version} yet. Choose {views}.")
        raise UnknownView(sentence.format(view=view, version=__version__, views=choices))
    raise UnknownView(_("The panel has no view {view!r}. Choose {views}.").format(view=view, views=choices))


def checked_height(height: int | str | None) -> int | str:
    """Pixels, or a CSS length as text; None leaves it to the panel."""
    if height is None:
        return ""
    if type(height) is int and 0 < height <= MAX_HEIGHT:
        return height
    if isinstance(height, str) and LENGTH.fullmatch(height):
        return height
    raise BadHeight(
        _("{height!r} is not a height. Give pixels as a whole number, or a text like '30em' or '60vh'.").format(
            height=height
        )
    )


class Panel(anywidget.AnyWidget):
    """A panel in a cell's output. `hear` takes what its views send, `leave` is called when it is closed."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    _view = traitlets.Unicode("chat").tag(sync=True)
    _chat_id = traitlets.Unicode("").tag(sync=True)
    _height = traitlets.Union([traitlets.Int(), traitlets.Unicode()], default_value="").tag(sync=True)

    def __init__(
        self,
        view: str,
        chat_id: str,
        height: int | str | None,
        *,
        hear: Callable[[object], None],
        leave: Callable[[], None],
    ) -> None:
        self._leave = leave
        view, height = checked_view(view), checked_height(height)
        script, style = built_files()
        super().__init__(_esm=script, _css=style, _view=view, _chat_id=chat_id, _height=height)
        self.on_msg(lambda _widget, content, _buffers: hear(content))
        assert self.comm is not None
        self.comm.on_close(lambda _message: leave())

    def close(self) -> None:
        self._leave()
        super().close()

    def __repr__(self) -> str:
        return f"<CashCode panel: {self._view}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The view, and for a place that cannot show it a sentence that says so."""
        found = super()._repr_mimebundle_(**kwargs)
        if found is None:
            return None
        data, metadata = found
        text = _("The CashCode {view} panel shows here in a running notebook (JupyterLab, Notebook, VS Code).")
        return data | {"text/plain": text.format(view=self._view)}, metadata
