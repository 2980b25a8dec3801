"""Runs the notebooks with the scripted model and saves their outputs: `python notebooks/record.py`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat
from conftest import scripted_home
from nbclient import NotebookClient

HERE = Path(__file__).parent
WIDGET = "application/vnd.jupyter.widget-view+json"


def record(path: Path) -> None:
    """Execute one notebook in an empty folder and write it back without times and counts of this run."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=120, store_widget_state=False, resources={"metadata": {"path": folder}}
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            # The widget is gone with its kernel; its text stays.
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.language_info = {"name": "python"}
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def main() -> None:
    os.environ.pop("PYTEST_VERSION", None)
    for path in sorted(HERE.glob("*.ipynb")):
        with scripted_home():
            record(path)
        print(path.name)


if __name__ == "__main__":
    main()
