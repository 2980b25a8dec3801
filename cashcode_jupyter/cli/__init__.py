"""The headless door: `cashcode ask|run|doctor|starter|try`.

Rule: standard output holds what was asked for and nothing else. With `--json` and in `run` both standard output
and standard error hold one JSON object a line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.cli.parser import build
from cashcode_jupyter.protocol.errors import CashCodeError

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a failure, 2 for a wrong call, 130 after Ctrl-C."""
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
    except BrokenPipeError:
        # The reader is gone; what Python still holds for it must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
