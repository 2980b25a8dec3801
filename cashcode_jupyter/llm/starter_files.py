"""Which GGUF file the `starter` provider serves: one record, `starter.json`, beside the models.

A file in the models folder is recorded by its name, so that a copied data dir still works; a file elsewhere
by its whole path. What was registered counts as long as the file is there with the recorded size.
"""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.gguf import GgufHead, read_head
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.storage import atomic

RECORD = "starter.json"


class Record(BaseModel):
    """`starter.json`: sizes in bytes, `mtime_ns` and `sha256` tell a later look whether the file is the same."""

    model_config = ConfigDict(frozen=True)

    file: str = Field(min_length=1)
    model: str = Field(min_length=1, max_length=256)
    source: str
    license: str | None = None
    size: int
    mtime_ns: int
    sha256: str | None = None
    context_length: int | None = None
    kv_bytes: int | None = None


@dataclass(frozen=True)
class StarterFile:
    """A model that can be served. `source` is where it came from, `tiny` whether it is the fetched one."""

    path: Path
    model: str
    source: str
    license: str | None
    size: int
    context_length: int | None
    kv_bytes: int | None
    tiny: bool


def registered(models: Path) -> StarterFile | None:
    """The registered model while its file is there; None without one."""
    record = read_record(models)
    if record is None:
        return None
    path = models / record.file  # an absolute name replaces the folder
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size != record.size:
        return None
    return StarterFile(
        path=path,
        model=record.model,
        source=record.source,
        license=record.license,
        size=record.size,
        context_length=record.context_length,
        kv_bytes=record.kv_bytes,
        tiny=record.source.startswith("pypi:"),
    )


def read_record(models: Path) -> Record | None:
    try:
        return Record.model_validate_json((models / RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def unchanged(models: Path, record: Record) -> bool:
    """Whether the recorded file has the size and the time it had when it was checked."""
    try:
        status = (models / record.file).stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (record.size, record.mtime_ns)


def register(
    models: Path,
    path: Path,
    *,
    source: str = "file",
    license: str | None = None,
    sha256: str | None = None,
) -> StarterFile:
    """Make `path` the model to serve; `BadSetting` when it is no GGUF file that can be read."""
    path = path.expanduser().absolute()
    head = check(path)
    status = path.stat()
    record = Record(
        file=path.name if path.parent == models.absolute() else str(path),
        model=model_name(path),
        source=source,
        license=license,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        sha256=sha256,
        context_length=head.context_length,
        kv_bytes=head.kv_bytes,
    )
    text = json.dumps(record.model_dump(exclude_none=True), ensure_ascii=False, indent=2) + "\n"
    with atomic.storage_errors(_("the record of the local model")):
        atomic.replace(models / RECORD, text.encode())
    found = registered(models)
    if found is None:
        raise BadSetting(_("{name} was changed while it was registered; try again.").format(name=path.name))
    return found


def check(path: Path) -> GgufHead:
    """The head of a model file; `BadSetting` with a sentence for everything that is none."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BadSetting(_("{name} is a folder; give the .gguf file in it.").format(name=path.name))
        if not stat.S_ISREG(mode):
            raise BadSetting(_("{name} is not a regular file.").format(name=path.name))
        return read_head(path)
    except FileNotFoundError:
        raise BadSetting(_("There is no file {name}.").format(name=path.name)) from None
    except OSError as error:
        raise BadSetting(
            _("{name} cannot be read: {reason}.").format(name=path.name, reason=error.strerror)
        ) from None


def model_name(path: Path) -> str:
    """The name the model goes by: that of its file, without `.gguf`."""
    name = path.name
    if name.lower().endswith(".gguf"):
        name = name[: -len(".gguf")]
    return name.strip()[:256] or "local"
