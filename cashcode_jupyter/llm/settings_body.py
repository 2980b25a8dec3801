"""The shapes of the model settings: the body of the REST routes (unknown fields refused) and the file (ignored).

One rule: an error names the field, never what was in it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from cashcode_jupyter.i18n import _
from cashcode_jupyter.protocol.errors import BadSetting
from cashcode_jupyter.protocol.events import ModelChoice, Provider

LONGEST_KEY = 16_384


def is_sendable(key: str) -> bool:
    """A key travels in a header: printable ASCII without white space."""
    return all("!" <= sign <= "~" for sign in key) and len(key) <= LONGEST_KEY


def _sendable(key: str | None) -> str | None:
    if key and not is_sendable(key.strip()):
        raise ValueError("not printable ASCII")
    return key


class OpenAiBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    base_url: str | None = None
    api_key: str | None = Field(None, repr=False)
    clear_api_key: bool = False

    check_key = field_validator("api_key")(_sendable)


class OllamaBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    base_url: str | None = None


class DefaultBody(ModelChoice, frozen=True):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SettingsBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    openai_compatible: OpenAiBody | None = None
    ollama: OllamaBody | None = None
    default: DefaultBody | None = None
    provider: Provider | None = None


class StoredOpenAi(BaseModel):
    base_url: str = ""
    api_key: str = Field(default="", repr=False)

    check_key = field_validator("api_key")(_sendable)


class StoredOllama(BaseModel):
    base_url: str = ""


class StoredSettings(BaseModel):
    version: Literal[1, 2]
    openai_compatible: StoredOpenAi = StoredOpenAi()
    ollama: StoredOllama = StoredOllama()
    default: ModelChoice | None = None

    @field_validator("openai_compatible", "ollama", mode="before")
    @classmethod
    def _null_is_empty(cls, value: Any) -> Any:
        return {} if value is None else value


def parse_body(body: Any, *, testing: bool = False) -> SettingsBody:
    """The body of PUT, or of the test, which may also name its `provider`. `BadSetting` names the wrong field."""
    try:
        parsed = SettingsBody.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        if not place:
            raise BadSetting(_("The model settings have to be a JSON object.")) from None
        if problem["type"] == "extra_forbidden":
            raise BadSetting(_("The model settings have no field {name}.").format(name=place[:100])) from None
        raise BadSetting(_("The field {name} of the model settings cannot be used.").format(name=place)) from None
    if parsed.provider and not testing:
        raise BadSetting(_("The model settings have no field {name}.").format(name="provider"))
    return parsed


def parse_file(value: Any) -> StoredSettings:
    """What `llm.json` holds; `ValueError` (pydantic's is one) when it is something else."""
    return StoredSettings.model_validate(value)
