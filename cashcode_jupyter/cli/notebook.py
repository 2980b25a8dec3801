"""Executing a notebook without a browser, its questions and answers printed as text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import StorageError

CELL_SECONDS = 600


def execute(path: Path, console: Console) -> int:
    """Run every cell in a kernel of this Python; 1 when one failed. The outputs are saved in the notebook."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook: Any = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_manager_class=_kernel_of_this_python(),
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=lambda cell, cell_index: _show_source(cell, console),
        on_cell_executed=lambda cell, cell_index, execute_reply: _show_outputs(cell, console),
        on_cell_error=lambda cell, cell_index, execute_reply: _show_outputs(cell, console),
    )
    try:
        client.execute()
    except CellExecutionError:
        return 1  # its traceback is among the outputs that were shown
    except CellTimeoutError:
        console.failure("internal", _("A cell took longer than {seconds} seconds.").format(seconds=CELL_SECONDS))
        return 1
    except DeadKernelError:
        sentence = _("The kernel died, often for lack of memory. Close other programs and try again.")
        console.failure("internal", sentence)
        return 1
    finally:
        _save(notebook, path)
    return 0


def _kernel_of_this_python() -> Any:
    """A kernel manager (a class) that starts this very interpreter, whatever kernels are registered."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from traitlets import default

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
            return KernelSpec(argv=command, display_name="Python 3", language="python")

    class Kernel(AsyncKernelManager):
        @default("kernel_spec_manager")
        def _this_python(self) -> KernelSpecManager:
            return ThisPython(parent=self)

    return Kernel


def _save(notebook: Any, path: Path) -> None:
    import nbformat

    try:
        nbformat.write(notebook, path)
    except OSError as error:
        raise StorageError(_("The outputs could not be saved: {reason}.").format(reason=error.strerror)) from error


def _show_source(cell: Any, console: Console) -> None:
    source = cell["source"].strip()
    if cell["cell_type"] == "code" and source:
        console.end_line()
        console.write("\n" + "".join(f"> {line}\n" for line in source.splitlines()))
    elif source:
        console.write(f"\n{source}\n")


def _show_outputs(cell: Any, console: Console) -> None:
    for output in cell.get("outputs", ()):
        if text := _text_of(output):
            console.write(text if text.endswith("\n") else text + "\n")


def _text_of(output: Any) -> str:
    match output["output_type"]:
        case "stream":
            return output["text"] if output["name"] == "stdout" else ""
        case "error":
            return "\n".join(output["traceback"])
        case _:
            data = output.get("data", {})
            return data.get("text/markdown") or data.get("text/plain") or ""
