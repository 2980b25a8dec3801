"""The headless door: `cashcode ask|run|connect|doctor|starter|try`.

Rule: standard output holds what was asked for and nothing else. With `--json` and in `run` both standard output
and standard error hold one JSON object a line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.cli.parser import build
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.storage.atomic import in_words

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a failure, 2 for a wrong call, 130 after Ctrl-C."""
    _open_missing_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    console = Console(json=arguments[:1] == ["run"] or "--json" in arguments)
    options = build(console).parse_args(arguments)
    command = import_module(f"cashcode_jupyter.cli.{options.module}")
    try:
        return command.main(options, console)
    except CashCodeError as error:
        console.problem(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # Ours are put into words where they happen; what comes here is standard output. What Python still holds
        # for it must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            console.problem(in_words(error, _("the output")))
        return 1


def _open_missing_streams() -> None:
    """A parent may close standard streams; Python then has None in their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
