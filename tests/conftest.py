"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import os

pytest_plugins = ["cashcode_jupyter.testing.fixtures"]

# Sentences are compared in English, whatever the developer's language. Not a fixture: some are made while a module
# is imported, and kernels and servers that outlive a test inherit it. A test that wants another language sets it.
os.environ["CASHCODE_LANG"] = "en"
