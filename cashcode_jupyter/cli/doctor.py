"""`cashcode doctor`: check everything, say what to do. Model servers are asked only where one is configured."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from cashcode_jupyter.cli import checks
from cashcode_jupyter.cli.checks import Check
from cashcode_jupyter.cli.console import Console
from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import CashCodeError

if TYPE_CHECKING:
    from cashcode_jupyter.config import Settings
    from cashcode_jupyter.llm.client import Models
    from cashcode_jupyter.llm.settings import LlmStore
    from cashcode_jupyter.llm.starter import StarterModels

MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def main(options: argparse.Namespace, console: Console) -> int:
    failed = asyncio.run(_examine(console))
    if not options.json:
        console.end_line()
        console.aside(_("Something must be repaired.") if failed else _("CashCode can work."))
    return 1 if failed else 0


async def _examine(console: Console) -> bool:
    failed = False
    async for check in _all():
        failed |= check.status == "fail"
        if console.json:
            console.record({"event": "check", **check.as_dict()})
        else:
            console.write(f"{MARKS[check.status]}  {check.name:<18} {check.found}\n")
            if check.advice:
                console.write(f"{'':25}{check.advice}\n")
    return failed


async def _all() -> AsyncIterator[Check]:
    from cashcode_jupyter.config import Settings

    for check in (*checks.installation(), *checks.extension()):
        yield check
    try:
        settings = Settings.load()
    except CashCodeError as error:
        yield Check("settings", "fail", error.detail)
        return
    for check in checks.folders(settings):
        yield check
    async for check in _models(settings):
        yield check


async def _models(settings: Settings) -> AsyncIterator[Check]:
    from cashcode_jupyter.llm.client import Models
    from cashcode_jupyter.llm.settings import LlmStore
    from cashcode_jupyter.llm.starter import StarterModels

    store, starter = LlmStore(settings.paths.llm_settings), StarterModels(settings.paths)
    models = Models(store, settings, starter)
    try:
        for provider in store.ready():
            yield await _reached(models, provider)
        if starter.registered():
            yield await _started(starter)
        yield await _default(models, store)
    except CashCodeError as error:
        yield Check("models", "fail", error.detail)
    finally:
        await models.aclose()
        await starter.aclose()


async def _reached(models: Models, provider: str) -> Check:
    try:
        answer = await models.test({"provider": provider})
    except CashCodeError as error:
        return Check(provider, "fail", error.detail)
    return Check(provider, "ok", answer["message"])


async def _started(starter: StarterModels) -> Check:
    file = starter.registered()
    assert file is not None
    what = _("{model}, {size} MB").format(model=file.model, size=file.size // 1_000_000)
    try:
        await starter.endpoint()
    except CashCodeError as error:
        return Check("starter", "fail", f"{what}: {error.detail}")
    found = _("{model}: starts and answers, {tokens} tokens of context").format(model=what, tokens=starter.n_ctx)
    return Check("starter", "ok", found)


async def _default(models: Models, store: LlmStore) -> Check:
    """What answers when a chat names no model."""
    try:
        choice = models.choose(None, None)
    except CashCodeError as error:
        advice = _("Get a small local model with: cashcode starter")
        return Check("model", "warn", error.detail, "" if "cashcode starter" in error.detail else advice)
    name = f"{choice.model} ({choice.provider})"
    if choice.provider == "starter":
        return Check("model", "ok", _("In use: {model}, a small local model").format(model=name))
    return Check("model", "ok", _("In use: {model}").format(model=name))
