"""`%%cashcode` and `%cashcode`. Loading this registers two functions; everything else loads with the first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.magic import no_var_expand

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    from cashcode_jupyter.kernel.session import session

    session()
    shell.magics_manager.register_function(cashcode_cell, magic_kind="cell", magic_name="cashcode")
    shell.magics_manager.register_function(cashcode_line, magic_kind="line", magic_name="cashcode")


def unload_ipython_extension(shell: InteractiveShell) -> None:
    from cashcode_jupyter.kernel.session import end_session

    for kind in ("cell", "line"):
        shell.magics_manager.magics[kind].pop("cashcode", None)
    end_session()


@no_var_expand
def cashcode_cell(line: str, cell: str) -> None:
    """Ask the agent; the question is the text below this line, byte for byte. `%cashcode` shows the options."""
    from cashcode_jupyter.kernel.question_cell import run
    from cashcode_jupyter.kernel.session import session

    run(session(), line, cell)


@no_var_expand
def cashcode_line(line: str) -> None:
    """Status and help; `%cashcode SUBCOMMAND` for models, chats and memory."""
    from cashcode_jupyter.kernel.commands import run
    from cashcode_jupyter.kernel.session import session

    run(session(), line)
