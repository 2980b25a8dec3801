"""`cashcode connect`: test a model server, keep its address and choose the model that answers by default.

A key is asked for without echo or read from standard input; as an argument other users could see it.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from typing import Any

from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.i18n import _

SHOWN = 30


def main(options: argparse.Namespace, console: Console) -> int:
    return asyncio.run(_connect(options, console))


async def _connect(options: argparse.Namespace, console: Console) -> int:
    from cashcode_jupyter.config import Settings
    from cashcode_jupyter.llm.client import Models
    from cashcode_jupyter.llm.settings import LlmStore
    from cashcode_jupyter.llm.starter import StarterModels

    settings = Settings.load()
    store = LlmStore(settings.paths.llm_settings)
    models = Models(store, settings, StarterModels(settings.paths))
    provider, body = _body(options, known_url=store.view()["openai_compatible"]["base_url"])
    try:
        tested = await models.test(body | {"provider": provider})
        console.aside(tested["message"])
        await asyncio.to_thread(store.update, body)
        found = await models.discover()
    finally:
        await models.aclose()
    names = [row["id"] for row in found["models"] if row["provider"] == provider]
    model = options.model or (names[0] if len(names) == 1 else None)
    if model is not None:
        await asyncio.to_thread(store.update, {"default": {"provider": provider, "model": model}})
        console.write(_("Connected. The default model is {model}.").format(model=f"{provider}:{model}") + "\n")
        return 0
    console.write(_("Connected. Choose the default model with --model NAME:") + "\n")
    console.write("".join(f"  {name}\n" for name in names[:SHOWN]))
    if len(names) > SHOWN:
        console.write("  " + _("and more: {count}").format(count=len(names) - SHOWN) + "\n")
    return 0


def _body(options: argparse.Namespace, *, known_url: str) -> tuple[str, dict[str, Any]]:
    """The provider, and the settings to test and keep."""
    from cashcode_jupyter.llm.addresses import OLLAMA, base_url

    if options.server == "ollama":
        return "ollama", {"ollama": {"base_url": options.address or OLLAMA}}
    url = base_url(options.server)
    return "openai_compatible", {"openai_compatible": {"base_url": url, "api_key": _key(url, known_url)}}


def _key(url: str, known_url: str) -> str:
    """The key as typed or piped; empty keeps the stored one of the same address, or means that none is needed."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    hint = _("empty keeps the stored one") if url == known_url else _("empty if none is needed")
    return getpass.getpass(_("API key ({hint}): ").format(hint=hint)).strip()
