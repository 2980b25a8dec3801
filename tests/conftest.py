"""Fixtures that every part of the suite shares."""

from __future__ import annotations

pytest_plugins = ["cashcode_jupyter.testing.fixtures"]
