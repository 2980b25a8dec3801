"""`python -m cashcode_jupyter.cli`: the same as `cashcode`."""

from __future__ import annotations

import sys

from cashcode_jupyter.cli import main

sys.exit(main())
