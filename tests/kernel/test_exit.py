"""A program that used the embedded core and ends."""

from __future__ import annotations

import json
import subprocess
import sys

from cashcode_jupyter.testing.fixtures import CashcodeHome

PROGRAM = 'import cashcode_jupyter as cashcode; print(cashcode.ask("[[mock:say=Hello.]]").chat_id)'


def test_a_program_that_asked_ends_quietly_and_leaves_the_chat_described_and_free(
    cashcode_home: CashcodeHome,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=cashcode_home.workspace, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")
    memory = cashcode_home.data / "memory"
    described = json.loads((memory / done.stdout.strip() / "metadata.json").read_text("utf-8"))
    assert described["title"] == "[[mock:say=Hello.]]"
    assert list((memory / ".leases").glob("*.json")) == []
