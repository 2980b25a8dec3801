"""What `cashcode doctor` looks at on this computer: each check gives lines that say ok, warn or fail.

A check reads and says; it repairs nothing, makes no folder and shows no secret.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from cashcode_jupyter import __version__
from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.logs import FILE_NAME
from cashcode_jupyter.paths import Paths

DISTRIBUTION = "cashcode-jupyter"
EXTENSION = "cashcode_jupyter"
LITTLE_SPACE, NO_SPACE = 200_000_000, 5_000_000


@dataclass(frozen=True)
class Check:
    """One line: what was looked at, what was found, and what to do about it."""

    name: str
    status: Literal["ok", "warn", "fail"]
    found: str
    advice: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


def installation() -> Iterator[Check]:
    yield Check("python", "ok", f"Python {platform.python_version()}, {sys.prefix}")
    yield Check("cashcode", "ok", f"{DISTRIBUTION} {__version__}")
    yield from _packages()
    yield _optional("jupyterlab", _("JupyterLab"), 'pip install "cashcode-jupyter[lab]"')
    yield _optional("xllamacpp", _("xllamacpp (local models)"), 'pip install "cashcode-jupyter[local]"')


def _packages() -> Iterator[Check]:
    from packaging.requirements import Requirement
    from packaging.version import Version

    try:
        needed = [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:
        yield Check("packages", "fail", _("the package is not installed"), f"pip install {DISTRIBUTION}")
        return
    wrong = []
    for requirement in needed:
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            wrong.append(_("{name} is missing").format(name=requirement.name))
            continue
        if not requirement.specifier.contains(Version(version), prereleases=True):
            wrong.append(f"{requirement.name} {version} ({requirement.specifier})")
    if wrong:
        yield Check("packages", "fail", ", ".join(wrong), f"pip install --upgrade {DISTRIBUTION}")
    else:
        yield Check("packages", "ok", _("all required packages, in suitable versions"))


def _optional(module: str, label: str, command: str) -> Check:
    if importlib.util.find_spec(module) is None:
        return Check(module, "warn", _("{label} is not installed").format(label=label), command)
    try:
        return Check(module, "ok", f"{label} {metadata.version(module)}")
    except metadata.PackageNotFoundError:
        return Check(module, "ok", label)


def extension() -> Iterator[Check]:
    """Whether the Jupyter server of this Python would load us, by its configuration files."""
    from jupyter_core.paths import jupyter_config_path

    state = None
    for folder in reversed(jupyter_config_path()):  # the first has the last word
        files = [*sorted(Path(folder, "jupyter_server_config.d").glob("*.json"))]
        for file in [*files, Path(folder, "jupyter_server_config.json")]:
            state = _enabled_in(file, state)
    if state:
        yield Check("extension", "ok", _("enabled in the Jupyter server"))
    else:
        found = (
            _("switched off in the Jupyter server") if state is False else _("not enabled in the Jupyter server")
        )
        yield Check("extension", "fail", found, f"jupyter server extension enable {EXTENSION}")


def _enabled_in(file: Path, before: bool | None) -> bool | None:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return before
    for key in ("ServerApp", "jpserver_extensions", EXTENSION):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, bool) else before


def folders(settings: Settings) -> Iterator[Check]:
    paths = settings.paths
    yield _folder("data", _("data folder"), paths.data, "CASHCODE_DATA_DIR")
    yield _folder("config", _("settings folder"), paths.config, "CASHCODE_CONFIG_DIR")
    yield from _privacy(paths)
    yield _log(settings)
    yield _leases(paths)


def _folder(name: str, label: str, folder: Path, variable: str) -> Check:
    shown = f"{label} {folder}"
    choose = _("Set {variable} to a folder that can be written.").format(variable=variable)
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return Check(name, "fail", _("{what}: a file is where the folder should be").format(what=shown), choose)
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Check(
            name, "fail", _("{what} cannot be written: {reason}").format(what=shown, reason=reason), choose
        )
    space = _("{free} MB free").format(free=free // 1_000_000)
    if free < LITTLE_SPACE:
        status = "fail" if free < NO_SPACE else "warn"
        return Check(name, status, f"{shown}: {space}", _("Free some disk space."))
    if place != folder:
        return Check(name, "ok", _("{what} will be made at first use, {space}").format(what=shown, space=space))
    return Check(name, "ok", f"{shown}, {space}")


def _privacy(paths: Paths) -> Iterator[Check]:
    try:
        status = paths.llm_settings.stat()
    except OSError:
        return
    if os.name == "nt":
        return
    if status.st_mode & 0o077:
        command = f"chmod 600 {paths.llm_settings}"
        yield Check("llm.json", "fail", _("other users of this computer can read your model keys"), command)
    elif status.st_uid != os.getuid():
        advice = _("Set CASHCODE_CONFIG_DIR to a folder of your own.")
        yield Check("llm.json", "warn", _("the model settings belong to another user"), advice)
    else:
        yield Check("llm.json", "ok", _("the model settings are private"))


def _log(settings: Settings) -> Check:
    file = settings.logs / FILE_NAME
    if not file.exists():
        return Check("log", "ok", _("{file} will be made at first use").format(file=file))
    if not os.access(file, os.W_OK):
        advice = _("Set CASHCODE_LOG_DIR to a folder that can be written.")
        return Check("log", "fail", _("{file} cannot be written").format(file=file), advice)
    return Check("log", "ok", f"{file} ({file.stat().st_size // 1000} kB)")


def _leases(paths: Paths) -> Check:
    from cashcode_jupyter.memory.sessions import LEASES
    from cashcode_jupyter.storage.locks import Owner

    held, stale = 0, 0
    for file in sorted((paths.memory / LEASES).glob("*")):
        if file.name.startswith("."):
            continue
        try:
            owner = Owner.read(file.read_bytes())
        except OSError:
            continue
        if owner is None or owner.is_dead():
            stale += 1
        else:
            held += 1
    if stale:
        found = _("chats that a process was writing when it died: {count}").format(count=stale)
        return Check("chats", "warn", found, _("Nothing to do: the next message in each chat takes it over."))
    return Check("chats", "ok", _("chats that are being written at the moment: {count}").format(count=held))
