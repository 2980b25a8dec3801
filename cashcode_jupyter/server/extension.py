"""The Jupyter server extension, and `jupyter cashcode`, which is a Jupyter server with nothing else in it.

Loading it registers addresses and no more: the core, and all that the core needs, is imported by the first
request that asks for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import aliases as server_aliases

from cashcode_jupyter import __version__
from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting, CashCodeError
from cashcode_jupyter.server.door import Door
from cashcode_jupyter.server.handlers import routes
from cashcode_jupyter.server.kernel_door import KernelDoor, KernelSocket
from cashcode_jupyter.server.setting_traits import given_settings, setting_aliases, setting_traits
from cashcode_jupyter.server.socket import PanelSocket

if TYPE_CHECKING:
    from cashcode_jupyter.server.compat import CompatListener

NAME = "CashCodeExtension"
SERVER_ALIASES = ("ip", "port", "sock", "certfile", "keyfile", "notebook-dir", "log-level", "config")


class CashCodeExtension(ExtensionApp):
    name = "cashcode_jupyter"
    version = __version__
    description = _(
        "CashCode in a Jupyter server of its own: the agent's REST API and sockets, without JupyterLab.\n\n"
        "Every setting can also be given by its environment variable or in jupyter_server_config.py as\n"
        "c.CashCodeExtension.NAME. `jupyter cashcode --help-all` describes all of them."
    )
    examples = _(
        "jupyter cashcode                          serve on the first free port from 8888\n"
        "jupyter cashcode --compat-listener=yes    also serve clients of the original CashCode server on loopback\n"
        "jupyter cashcode --workspace=~/projects   let the file tools work there"
    )
    extension_url = "/cashcode/api/health"
    load_other_extensions = False
    serverapp_config = {"open_browser": False}  # noqa: RUF012
    aliases: ClassVar[dict[str, Any]] = {
        **{name: server_aliases[name] for name in SERVER_ALIASES},
        **setting_aliases(NAME),
    }

    # A trait for each row of the table, so that defaults, variables and help have one source.
    vars().update(setting_traits())

    def load_settings(self) -> Settings:
        """Traits that are set, then the environment, then the defaults; `BadSetting` names a bad one."""
        return Settings.load(**given_settings(self))

    def initialize_settings(self) -> None:
        self.kernel_door = KernelDoor()
        self.compat: CompatListener | None = None
        self.door = Door(self.load_settings, self._root, self.log)
        self.settings.update(cashcode=self.door, cashcode_kernel_door=self.kernel_door)

    def _root(self) -> Path:
        assert self.serverapp is not None
        return Path(self.serverapp.root_dir)

    def initialize_handlers(self) -> None:
        self.handlers.extend(
            [
                ("/cashcode/ws", PanelSocket, {"route": "ws"}),
                ("/cashcode/kernel", KernelSocket, {"route": "kernel"}),
                *routes("/cashcode/api/", "/cashcode(?:/.*)?"),
            ]
        )

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        """The port is bound now."""
        if not self.kernel_door.publish(serverapp):
            self.log.debug("CashCode: kernels of this server find it by its runtime file only")
        try:
            settings = self.load_settings()
            if settings.compat_listener:
                self.open_compat(settings)
        except BadSetting as error:
            self.log.error("CashCode: %s", error.detail)

    def open_compat(self, settings: Settings) -> None:
        """Open the compatibility listener; what prevents it is logged and told by `health`."""
        from cashcode_jupyter.server.compat import CompatListener

        listener = CompatListener(self.door, settings)
        try:
            self.door.compat = listener.start()
        except CashCodeError as error:
            self.log.error("CashCode: %s", error.detail)
            self.door.compat = {"error": error.detail}
            return
        self.compat = listener
        self.log.info("CashCode: compatibility listener at %(ws)s and %(http)s", self.door.compat)

    async def stop_extension(self) -> None:
        self.kernel_door.withdraw()
        await self.door.aclose()
        if self.compat is not None:
            await self.compat.aclose()

    def write_default_config(self) -> None:
        # Jupyter's own default is made of `config_dir`, which here is CashCode's.
        from jupyter_core.paths import jupyter_config_dir

        self.config_file = self.config_file or str(Path(jupyter_config_dir(), f"{self.config_file_name}.py"))
        super().write_default_config()


main = CashCodeExtension.launch_instance
