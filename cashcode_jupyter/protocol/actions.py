"""Actions: everything that enters the core, and the one function that reads them from a frame.

Rejections of the seed keep its sentences word for word, because its clients match on them; unknown fields are
ignored.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from cashcode_jupyter.protocol.errors import (
    BadFrame,
    BadMetadata,
    CashCodeError,
    InvalidChatId,
    MissingContent,
    UnknownType,
)
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.protocol.pictures import FILE_NAME, MAX_PICTURES, read_picture

CHAT_ID = re.compile(r"[A-Za-z0-9_:-]{1,64}")
SKILL_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SERVER_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_SELECTIONS = 8
MAX_LABEL = 100
MAX_CONTEXT_ITEMS = 32
MAX_CONTEXT_CHARS = 100_000
NO_PICTURE = {"data_url": None, "file": None, "bytes": None}
PROVIDERS = ("openai_compatible", "ollama", "starter")


class SkillMention(BaseModel, frozen=True):
    name: str
    label: str | None = None


class ConnectorSelection(BaseModel, frozen=True):
    server: str
    label: str | None = None


class ContextItem(BaseModel, frozen=True):
    """Something the door attaches for the model to see as data: notebook cells, a selection, a picture.

    An `image` has a `data_url`, or names a `file` that the chat has from an earlier message; its `text` is empty.
    """

    kind: Literal["cell", "cells", "selection", "outline", "variable", "file", "image"]
    label: str = Field(default="", max_length=200)
    text: str = Field(max_length=MAX_CONTEXT_CHARS)
    data_url: str | None = Field(
        default=None, description="png, jpeg, webp or gif in base64, at most 1 MiB; at most 8 in a message"
    )
    file: str | None = Field(default=None, description="as in the receipt of the message that brought it")
    bytes: int | None = Field(default=None, ge=0, description="the size of `file`, set by the core")


class Metadata(BaseModel, frozen=True):
    llm: ModelChoice | None = None
    ref: str | None = Field(
        default=None, max_length=64, description="comes back in the events that answer this message"
    )
    mentioned_skills: tuple[SkillMention, ...] = ()
    selected_mcp_connectors: tuple[ConnectorSelection, ...] = ()
    context: tuple[ContextItem, ...] = ()


class Action(BaseModel, frozen=True):
    type: str


class Ping(Action, frozen=True):
    type: Literal["ping"] = "ping"


class NewChat(Action, frozen=True):
    type: Literal["new_chat"] = "new_chat"


class Attach(Action, frozen=True):
    type: Literal["attach"] = "attach"
    chat_id: str
    after_seq: int | None = Field(default=None, ge=0)


class Message(Action, frozen=True):
    type: Literal["message"] = "message"
    chat_id: str
    content: str
    metadata: Metadata = Metadata()


class Cancel(Action, frozen=True):
    """`stop` is the seed's second name for it."""

    type: Literal["cancel", "stop"] = "cancel"
    chat_id: str


class Steer(Action, frozen=True):
    type: Literal["steer"] = "steer"
    chat_id: str
    content: str


class Approval(Action, frozen=True):
    type: Literal["approval"] = "approval"
    chat_id: str
    call_id: str = Field(min_length=1, max_length=256)
    decision: Literal["allow", "deny"]
    scope: Literal["once", "turn", "chat"] = "once"


class Retry(Action, frozen=True):
    type: Literal["retry"] = "retry"
    chat_id: str
    from_cursor: int = Field(ge=1)
    content: str | None = None


AnyAction = Annotated[
    Ping | NewChat | Attach | Message | Cancel | Steer | Approval | Retry, Field(discriminator="type")
]
ACTIONS: TypeAdapter[AnyAction] = TypeAdapter(AnyAction)
_MODELS: dict[str, type[Action]] = {
    "ping": Ping,
    "new_chat": NewChat,
    "attach": Attach,
    "message": Message,
    "cancel": Cancel,
    "stop": Cancel,
    "steer": Steer,
    "approval": Approval,
    "retry": Retry,
}


class Rejection(Exception):
    """A frame that is no action: the error, and the chat it names when that much could be read."""

    def __init__(self, error: CashCodeError, chat_id: str | None = None) -> None:
        super().__init__(error.detail)
        self.error = error
        self.chat_id = chat_id


def parse_action(frame: str | bytes) -> Action:
    """The action in one frame; raises `Rejection` with a typed error otherwise."""
    try:
        value = json.loads(frame)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise Rejection(BadFrame("typed JSON envelope required"))
    kind: str = value["type"]
    model = _MODELS.get(kind)
    if model is None:
        raise Rejection(UnknownType(f"unknown type: {kind[:64]!r}"))
    chat_id = None
    if "chat_id" in model.model_fields:
        chat_id = value.get("chat_id")
        if not valid_chat_id(chat_id):
            raise Rejection(InvalidChatId("invalid chat_id"))
    if kind in ("message", "steer"):
        content = value.get("content")
        if not isinstance(content, str) or not content.strip():
            raise Rejection(MissingContent("missing content"), chat_id)
        value["content"] = _whole(content)
    try:
        if kind == "message":
            return Message(
                chat_id=value["chat_id"], content=value["content"], metadata=parse_metadata(value.get("metadata"))
            )
        return model.model_validate(value)
    except BadMetadata as error:
        raise Rejection(error, chat_id) from None
    except ValidationError as error:
        raise Rejection(BadFrame(first_problem(error)), chat_id) from None


def _whole(text: str) -> str:
    """Half an emoji, cut by a client, must not cost the message."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def valid_chat_id(value: object) -> bool:
    return isinstance(value, str) and CHAT_ID.fullmatch(value) is not None


def first_problem(error: ValidationError) -> str:
    """`field: what is wrong` of the first problem, without echoing the value."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "value"
    return f"{where}: {problem['msg']}"


def parse_metadata(value: object) -> Metadata:
    """The `metadata` of a message; raises `BadMetadata` with the seed's sentence."""
    if value is None:
        return Metadata()
    if not isinstance(value, dict):
        raise BadMetadata("metadata must be an object")
    skills = _rows(value, "mentioned_skills")
    servers = _rows(value, "selected_mcp_connectors")
    if len(skills) + len(servers) > MAX_SELECTIONS:
        raise BadMetadata(f"at most {MAX_SELECTIONS} Skill/MCP selections are allowed")
    names = _selection(skills, "mentioned_skills", "name", SKILL_NAME)
    targets = _selection(servers, "selected_mcp_connectors", "server", SERVER_NAME)
    return Metadata(
        llm=_llm(value.get("llm")),
        ref=_ref(value.get("ref")),
        mentioned_skills=tuple(SkillMention(name=name, label=label) for name, label in names.items()),
        selected_mcp_connectors=tuple(
            ConnectorSelection(server=name, label=label) for name, label in targets.items()
        ),
        context=_context(value.get("context")),
    )


def _rows(value: dict[str, Any], field: str) -> list[Any]:
    rows = value.get(field)
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise BadMetadata(f"{field} must be a list")
    return rows


def _selection(rows: list[Any], field: str, key: str, grammar: re.Pattern[str]) -> dict[str, str | None]:
    chosen: dict[str, str | None] = {}
    for row in rows:
        if not isinstance(row, dict):
            raise BadMetadata(f"{field} entries must be objects")
        name = row.get(key)
        if not isinstance(name, str) or grammar.fullmatch(name) is None:
            raise BadMetadata(f"{field}.{key} is invalid")
        label = row.get("label")
        if label is not None and not isinstance(label, str):
            raise BadMetadata(f"{field}.label must be a string")
        label = (label or "").replace("\0", "").strip()
        if len(label) > MAX_LABEL:
            raise BadMetadata(f"{field}.label must be at most {MAX_LABEL} characters")
        chosen.setdefault(name, label or None)
    return chosen


def _llm(value: object) -> ModelChoice | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadMetadata("llm must be an object")
    if value.get("provider") not in PROVIDERS:
        raise BadMetadata("llm.provider is invalid")
    model = value.get("model")
    if not isinstance(model, str):
        raise BadMetadata("llm.model must be a string")
    if not 1 <= len(model.strip()) <= 256:
        raise BadMetadata("llm.model is invalid")
    return ModelChoice(provider=value["provider"], model=model.strip())


def _ref(value: object) -> str | None:
    if value is None or (isinstance(value, str) and len(value) <= 64):
        return value
    raise BadMetadata("ref must be a string of at most 64 characters")


def _context(value: object) -> tuple[ContextItem, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadMetadata("context must be a list")
    if len(value) > MAX_CONTEXT_ITEMS:
        raise BadMetadata(f"at most {MAX_CONTEXT_ITEMS} context items are allowed")
    try:
        items = tuple(ContextItem.model_validate(item) for item in value)
    except ValidationError as error:
        raise BadMetadata(f"context.{first_problem(error)}") from None
    pictures = [item for item in items if item.kind == "image"]
    if len(pictures) > MAX_PICTURES:
        raise BadMetadata(f"at most {MAX_PICTURES} pictures are allowed")
    for item in pictures:
        _picture(item)
    # Like any unknown field: what is no picture has none.
    return tuple(item if item.kind == "image" else item.model_copy(update=NO_PICTURE) for item in items)


def _picture(item: ContextItem) -> None:
    if item.data_url is not None:
        read_picture(item.data_url)
    elif item.file is None:
        raise BadMetadata("context.data_url is missing")
    elif FILE_NAME.fullmatch(item.file) is None:
        raise BadMetadata("context.file is invalid")
