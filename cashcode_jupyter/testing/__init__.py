"""The scripted model: an OpenAI-compatible server whose answers are written in the request that asks for them.

    with ScriptedModel() as model:
        ...  # point a client at model.url and ask "[[mock:text,say=Hello]]"

Standard library only. `directive.py` describes the language, `python -m cashcode_jupyter.testing --list-quirks`
every `quirk=NAME`. The pytest fixtures live in `fixtures.py`, which is not imported here.
"""

from __future__ import annotations

from cashcode_jupyter.testing.directive import directive, script
from cashcode_jupyter.testing.model import ScriptedModel

__all__ = ["ScriptedModel", "directive", "script"]
