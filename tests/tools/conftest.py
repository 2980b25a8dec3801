from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cashcode_jupyter.tools.base import CallContext


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def context(tmp_path: Path, workspace: Path) -> Callable[..., CallContext]:
    """Makes the context of a call in chat `c1`; `call_id` and `turn_id` may be given."""

    def make(call_id: str = "call_1", turn_id: str = "t1", chat_id: str = "c1") -> CallContext:
        return CallContext(chat_id, turn_id, call_id, workspace, tmp_path / "memory" / chat_id / "results")

    return make
