"""The JSON bodies that our routes take. Imported with the first of them, because pydantic is not small."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Title(Body):
    title: str


class Text(Body):
    """A new text of a document, and the hash of the text that it replaces."""

    text: str
    expected_hash: str
