"""The notebooks run against the scripted model, in folders of their own, so that their outputs can be compared."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from cashcode_jupyter.testing import ScriptedModel, script

ANSWERS = {
    "capital of France": "The capital of France is Paris.",
    "And of Italy": "The capital of Italy is Rome.",
    "does tea cost": "Tea costs 2.50.",
    "Say hello": "Bonjour !",
    "My name is Ada": "Nice to meet you, Ada. The spring report it is.",
    "What is my name": "Your name is Ada, and you are planning the spring report.",
    "sold best": script(
        [[("read_file", {"path": "march.csv"})]], text="Tea sold best in March: 120, against 80 coffees."
    ),
    "British English": script(
        [[("save_memory", {"content": "Ada writes reports in British English."})]],
        text="I will remember that you write in British English.",
    ),
    "plant in March": "Peas, spinach and broad beans can go out in March.",
    "like the shade": "Spinach does well in half shade.",
    "Sum it up": "In March: peas and broad beans in the sun, spinach in half shade.",
    "How should you spell": "In British English, as you asked me to.",
}


@contextmanager
def scripted_home() -> Iterator[None]:
    """Folders and a model for one run; the environment names them, so kernels that start inside use them."""
    with ScriptedModel(answers=ANSWERS) as model, tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "config" / "settings" / "llm.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            json.dumps(
                {
                    "version": 2,
                    "openai_compatible": {"base_url": model.url, "api_key": ""},
                    "ollama": {"base_url": ""},
                    "default": {"provider": "openai_compatible", "model": "mock"},
                }
            )
        )
        environment = {
            "CASHCODE_DATA_DIR": f"{folder}/data",
            "CASHCODE_CONFIG_DIR": f"{folder}/config",
            "CASHCODE_LANG": "en",
            "IPYTHONDIR": f"{folder}/ipython",
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            yield


def pytest_sessionstart(session: pytest.Session) -> None:
    home = ExitStack()
    home.enter_context(scripted_home())
    session.config.add_cleanup(home.close)
