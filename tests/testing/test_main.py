from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

COMMAND = [sys.executable, "-m", "cashcode_jupyter.testing"]


def test_it_says_ready_answers_by_a_file_of_rules_and_ends_on_a_signal(tmp_path: Path) -> None:
    rules = tmp_path / "answers.json"
    rules.write_text('{"capital": "Paris."}')
    with subprocess.Popen(
        [*COMMAND, "--answers", str(rules)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        word, port = process.stdout.readline().split()
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "the capital?"}]}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body)
        with urllib.request.urlopen(request, timeout=10) as response:
            answer = json.load(response)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
    assert word == "READY"
    assert answer["choices"][0]["message"]["content"] == "Paris."


def test_what_stops_it_from_starting_is_said(tmp_path: Path) -> None:
    wrong = tmp_path / "answers.json"
    wrong.write_text("[]")
    done = subprocess.run([*COMMAND, "--answers", str(wrong)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert "one JSON object" in done.stderr


def test_the_quirks_are_listed() -> None:
    done = subprocess.run([*COMMAND, "--list-quirks"], capture_output=True, text=True, timeout=20, check=True)
    assert "tool_call_text" in done.stdout
