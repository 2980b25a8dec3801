"""The real program as a child process, against the scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cashcode_jupyter.testing.fixtures import CashcodeHome

PROGRAM = (sys.executable, "-m", "cashcode_jupyter.cli")
SECONDS = 60


@dataclass(frozen=True)
class Done:
    """How the program ended."""

    code: int
    out: str
    err: str

    def records(self) -> list[dict[str, Any]]:
        """Standard output as JSON objects; fails when a line is none."""
        return [json.loads(line) for line in self.out.splitlines()]

    def named(self, event: str) -> list[dict[str, Any]]:
        return [record for record in self.records() if record["event"] == event]

    def text(self) -> str:
        """The streamed answer of a JSON run."""
        return "".join(record["text"] for record in self.named("delta"))


@dataclass
class Program:
    """Runs `cashcode` in the workspace; ends what a test left running."""

    folder: Path
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=options.get("stdin", subprocess.PIPE),
            stdout=options.get("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.running.append(process)
        return process

    def __call__(self, *arguments: str, given: str = "") -> Done:
        process = self.start(*arguments)
        out, err = process.communicate(given, timeout=SECONDS)
        return Done(process.returncode, out, err)

    def end(self) -> None:
        for process in self.running:
            process.terminate()  # not kill: `try` has a child of its own to end
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream and not stream.closed:
                    stream.close()


@pytest.fixture
def cashcode(cashcode_home: CashcodeHome) -> Iterator[Program]:
    """The program with the scripted model as its default."""
    program = Program(cashcode_home.workspace)
    yield program
    program.end()


@pytest.fixture
def without_model(cashcode_home: CashcodeHome, cashcode: Program) -> Program:
    """The program on a fresh computer: nothing is configured."""
    cashcode_home.llm_settings.unlink()
    return cashcode
