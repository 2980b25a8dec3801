"""Who can see pictures: what a server's list of models says of it, and which refusals say that a model cannot.

One rule: what nobody says is unknown, and what is unknown is tried.
"""

from __future__ import annotations

import re
from typing import Any

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.error_facts import ErrorFacts
from cashcode_jupyter.protocol.errors import LlmBadRequest

SENT = "image_url"
"""What stands for pictures among the parameters of a request."""

_REFUSED = (400, 404, 415, 422, 500, 501)
_CANNOT = re.compile(
    r"image_url|unknown variant .{0,5}image|no endpoints found that support image|at most 0 (image|multimodal)|"
    r"(image|vision|picture|multi-?modal)( \w+){0,3} (is|are) (not|only) (supported|allowed|enabled|available)|"
    r"(not|n't) (support|accept|have|process|understand|handle)( \w+){0,3} (image|vision|picture|multi-?modal)|"
    r"not a (multi-?modal|vision)|missing data required for image|mmproj"
)
_ABOUT = re.compile(r"\bimages?\b|\bvision\b|\bpictures?\b|multi-?modal")
_TEXT_ONLY = re.compile(r"(must|should) be a (valid )?string|expected (a )?string|str type expected")
_JUDGED = re.compile(r"flagged|moderat|filter|polic|sensitive|safety")


def cannot_see(model: str) -> LlmBadRequest:
    """The sentence for a message whose pictures its model does not get."""
    return LlmBadRequest(
        _(
            "The model {model} does not take pictures, so it is told their names only. "
            "Choose a model that can see, then send them again."
        ).format(model=model)
    )


def says_it_cannot_see(status: int, facts: ErrorFacts) -> bool:
    """Whether the refusal of a request with pictures says plainly that the model takes none."""
    if status not in _REFUSED:
        return False
    # A text in place of a list of parts is asked for by a server that knows no pictures.
    texts_only = re.search(r"\bcontent\b", facts.text) and _TEXT_ONLY.search(facts.text)
    return bool(_CANNOT.search(facts.text) or (texts_only and not re.search(r"\bnull\b|none", facts.text)))


def speaks_of_pictures(status: int, facts: ErrorFacts) -> bool:
    """Whether the refusal has to do with pictures in whatever words; a judgement of what they show has not."""
    return status in (400, 415, 422) and bool(_ABOUT.search(facts.text)) and not _JUDGED.search(facts.text)


def vision_of(row: Any) -> bool | None:
    """What a row of a list of models, or Ollama's `/api/show`, says of seeing; None when it says nothing."""
    if not isinstance(row, dict):
        return None
    abilities = row.get("capabilities")
    if isinstance(abilities, list) and abilities:
        if {"vision", "multimodal", "image"} & {name for name in abilities if isinstance(name, str)}:
            return True
        # The words of Ollama and llama.cpp, which name all that a model can do.
        return False if "completion" in abilities else None
    if isinstance(abilities, dict) and isinstance(sees := abilities.get("vision"), bool):  # Mistral
        return sees
    architecture = row.get("architecture")  # OpenRouter
    takes = (architecture if isinstance(architecture, dict) else row).get("input_modalities")
    return "image" in takes if isinstance(takes, list) and takes else None
