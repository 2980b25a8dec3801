"""`python -m cashcode_jupyter.testing`: the scripted model as a process of its own; prints `READY <port>`."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from cashcode_jupyter.testing.directive import DirectiveError
from cashcode_jupyter.testing.model import HOST, WINDOW, ScriptedModel
from cashcode_jupyter.testing.quirks import QUIRKS


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m cashcode_jupyter.testing", description=__doc__)
    parser.add_argument("--host", default=HOST)
    parser.add_argument("--port", type=int, default=0, help="0 (the default): any free port")
    parser.add_argument("--strict", action="store_true", help="refuse what any strict server would")
    parser.add_argument("--answers", type=Path, help="a JSON file: substring or regular expression -> answer")
    parser.add_argument("--default", help="the answer where no directive and no rule holds")
    parser.add_argument("--quirk", default="", help="NAME or NAME+NAME, for every request")
    parser.add_argument("--api-key", help="refuse requests without this key")
    parser.add_argument("--model", action="append", dest="models", help="a model's name to list (may be repeated)")
    parser.add_argument("--context-window", type=int, default=WINDOW, help="in tokens")
    parser.add_argument("--list-quirks", action="store_true", help="print every quirk and exit")
    options = parser.parse_args(argv)
    if options.list_quirks:
        print("\n".join(f"{quirk.name:24}{quirk.says}" for quirk in QUIRKS.values()))
        return 0
    try:
        model = ScriptedModel(
            answers=_rules(options.answers),
            default=options.default,
            strict=options.strict,
            quirks=tuple(name for name in options.quirk.split("+") if name),
            api_key=options.api_key,
            models=options.models or ("mock", "mock-strict"),
            context_window=options.context_window,
            host=options.host,
            port=options.port,
        )
        asyncio.run(_serve(model))
    except (OSError, ValueError, DirectiveError) as error:
        print(f"The scripted model cannot start: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _rules(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    rules = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(rules, dict) or not all(isinstance(text, str) for text in rules.values()):
        raise ValueError(f"{path.name} must hold one JSON object from texts to texts")
    return rules


async def _serve(model: ScriptedModel) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    await model.serve(lambda port: print("READY", port, flush=True), stop.wait)


if __name__ == "__main__":
    sys.exit(main())
