"""`cashcode.panel("chat")`: a widget that shows the panel, over this kernel's connection to the agent.

The widget's libraries load with the first panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cashcode_jupyter.kernel.failures import readable
from cashcode_jupyter.kernel.panel_link import Message, PanelLink
from cashcode_jupyter.kernel.session import session
from cashcode_jupyter.protocol import chat_names
from cashcode_jupyter.protocol.errors import CashCodeError

if TYPE_CHECKING:
    from cashcode_jupyter.widgets.panel import Panel


class _Line:
    """A widget's connection, of the session that there is when a view speaks."""

    def __init__(self) -> None:
        self.panel: Panel | None = None
        self._link: PanelLink | None = None

    def hear(self, message: object) -> None:
        current = session()
        if self._link is None or self._link.background is not current.background:
            self._link = PanelLink(current.background, current.door, self._post)
        self._link.hear(message)

    def leave(self) -> None:
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def _post(self, message: Message) -> None:
        if self.panel is not None:
            self.panel.send(message)


def panel(view: str = "chat", chat: str | None = None, height: int | str | None = None) -> Panel:
    """The panel as a widget: make it the last line of a cell.

    `view` is `chat` or `settings`, `chat` a chat's name or id (default: this notebook's chat), `height` pixels or a
    CSS length. Raises `CashCodeError` for a view that there is not, and where the panel's files are not built.
    """
    from cashcode_jupyter.widgets.panel import Panel

    line = _Line()
    try:
        chat_id = session().chat_id if chat is None else chat_names.chat_id(chat)
        line.panel = Panel(view, chat_id, height, hear=line.hear, leave=line.leave)
    except CashCodeError as error:
        raise readable(error) from None
    return line.panel
