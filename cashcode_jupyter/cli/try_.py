"""`cashcode try`: the quickstart notebook, in JupyterLab or executed here."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from cashcode_jupyter.cli import starter
from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError, NotFound, StorageError
from cashcode_jupyter.storage.atomic import storage_errors

NOTEBOOK = "01-quickstart.ipynb"
MAX_COPIES = 1000


class MissingLab(CashCodeError):
    """JupyterLab is an extra and was not asked for."""


def main(options: argparse.Namespace, console: Console) -> int:
    settings = Settings.load()
    if not options.headless and importlib.util.find_spec("jupyterlab") is None:
        raise MissingLab(
            _('JupyterLab is not installed. Run: pip install "cashcode-jupyter[lab]", or use --headless')
        )
    ensure_model(settings, console)
    notebook = copy_quickstart(Path(options.dir).expanduser())
    console.aside(_("The notebook is {path}").format(path=notebook))
    if options.headless:
        from cashcode_jupyter.cli import notebook as headless

        return headless.execute(notebook, console)
    return run_lab(notebook, options)


def ensure_model(settings: Settings, console: Console) -> None:
    """Fetch the starter model when nothing could answer otherwise, and say plainly what it is."""
    from cashcode_jupyter.llm.settings import LlmStore
    from cashcode_jupyter.llm.starter_files import registered

    file = registered(settings.paths.models)
    store = LlmStore(settings.paths.llm_settings)
    if store.default is None and file is None:
        console.aside(_("No model is chosen yet, so the starter model is fetched."))
        file = starter.fetch(settings, console)
    if store.default is None and file is not None:
        if file.tiny:
            console.aside(
                _(
                    "{model} answers. It is a tiny model: good to see that everything works, often wrong, and "
                    "it uses no tools. Choose a better one with: %cashcode model"
                ).format(model=file.model)
            )
        starter.tell_what_is_missing(console)


def quickstart() -> Path:
    """The notebook in the installed package, else in the checkout that this package runs from."""
    package = Path(__file__).parent.parent
    for path in (package / "quickstart" / NOTEBOOK, package.parent / "notebooks" / NOTEBOOK):
        if path.is_file():
            return path
    raise NotFound(_("The quickstart notebook is missing. Install the package again: pip install cashcode-jupyter"))


def copy_quickstart(folder: Path) -> Path:
    """A fresh copy in `folder`; a file that is there stays, the copy gets a number."""
    source = quickstart()
    with storage_errors(_("the copy of the notebook")):
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, MAX_COPIES):
            target = folder / (NOTEBOOK if number == 1 else f"{source.stem}-{number}.ipynb")
            try:
                with source.open("rb") as original, target.open("xb") as copy:
                    shutil.copyfileobj(original, copy)
            except FileExistsError:
                continue
            return target.absolute()
    raise StorageError(_("There are too many copies of the notebook already. Choose another folder with --dir."))


def run_lab(notebook: Path, options: argparse.Namespace) -> int:
    """JupyterLab as a child in the notebook's folder, until it ends; signals go on to it."""
    command = [sys.executable, "-m", "jupyterlab", notebook.name]
    if options.port is not None:
        command.append(f"--port={options.port}")
    return _follow([*command, *options.lab], notebook.parent)


def _follow(command: Sequence[str], folder: Path) -> int:
    process: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: FrameType | None) -> None:
        # A terminal sends Ctrl-C to JupyterLab as well, which then asks whether it is meant.
        if process is not None and not (number == signal.SIGINT and sys.stdin.isatty()):
            process.send_signal(number)

    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name != "nt" else [])]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        process = subprocess.Popen(command, cwd=folder)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code
