"""From the text a model sent to arguments that fit the tool's schema, or a problem that the model can read.

Rule: broken text is never run as `{}`. It is repaired where only punctuation is missing or foreign (fences,
trailing commas, missing closing brackets, Python literals), and only if the repaired value then validates.
Whether the stream was cut is for the caller to know: such a call is not run at all.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.json_schema import GenerateJsonSchema

from cashcode_jupyter.tools.base import ToolProblem, ToolSpec

Model = TypeVar("Model", bound=BaseModel)
MAX_PROBLEMS = 5
MAX_LITERAL_CHARS = 1_000_000
MAX_DEPTH = 100
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
_FENCE = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}


class ArgumentProblem(ToolProblem):
    """The arguments are no JSON object or do not fit the schema."""


class Arguments(BaseModel):
    """Base of the argument models of our own tools: nothing unknown, and null means left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: item for name, item in value.items() if item is not None}
        return value


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of an argument model, without the titles that only cost tokens."""
    schema = model.model_json_schema(schema_generator=_Untitled)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        part.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def parse_arguments(text: str, spec: ToolSpec) -> dict[str, Any]:
    """The arguments in `text`, as JSON values that fit the schema of `spec`; raises `ArgumentProblem`."""
    if not text.strip() or text.strip() == "null":
        return validate({}, spec)
    try:
        value = read_json(text)
    except ValueError as error:
        return _repaired(text, spec, error)
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            value = None
    if not isinstance(value, dict):
        raise ArgumentProblem(_problem(spec, "the arguments must be one JSON object"))
    return validate(value, spec)


def validate(value: dict[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """`value` as the tool takes it, by its pydantic model or by its JSON Schema; raises `ArgumentProblem`."""
    if spec.arguments is not None:
        return parse_model(spec.arguments, value, spec).model_dump(mode="json", exclude_unset=True)
    if problems := _schema_problems(value, spec.parameters):
        raise ArgumentProblem(_problem(spec, "; ".join(problems)))
    return value


def parse_model(model: type[Model], value: object, spec: ToolSpec) -> Model:
    """An instance of an argument model; raises `ArgumentProblem` in words for the model."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        rows = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [_row(row["loc"], row["type"], row["msg"]) for row in rows[:MAX_PROBLEMS]]
        raise ArgumentProblem(_problem(spec, "; ".join(problems))) from None


def canonical(arguments: dict[str, Any]) -> str:
    """One spelling of equal arguments, for hashes and comparison."""
    return json.dumps(arguments, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=True)


def read_json(text: str) -> Any:
    """The JSON value in `text`; raises `ValueError` also for what other readers of JSON could not take again:
    NaN and infinite numbers, and a value nested deeper than `MAX_DEPTH`."""
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _parts(outer)]
        if not level:
            return value
    raise ValueError(TOO_DEEP)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _repaired(text: str, spec: ToolSpec, error: Exception) -> dict[str, Any]:
    for value in _repairs(text):
        if isinstance(value, dict) and value:
            try:
                return validate(value, spec)
            except ArgumentProblem:
                continue
    reason = (
        f"{error.msg.removesuffix(' at')} at character {error.pos}"
        if isinstance(error, json.JSONDecodeError)
        else error
    )
    raise ArgumentProblem(_problem(spec, f"the arguments are not valid JSON ({reason})"))


def _repairs(text: str) -> Iterator[Any]:
    """Values that `text` may have been meant as, the likeliest first."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    for candidate in (text, _rebalanced(text)):
        for read in (read_json, _literal):
            try:
                yield read(candidate or "")
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, Warning):
                continue


def _literal(text: str) -> Any:
    """A Python literal (single quotes, None, True) as JSON values."""
    if len(text) > MAX_LITERAL_CHARS:
        raise ValueError("too long to be read as a Python literal")
    with warnings.catch_warnings():
        # An escape that Python only warns about (a Windows path) has no sure meaning; a warning would print it.
        warnings.simplefilter("error")
        return read_json(json.dumps(ast.literal_eval(text.strip()), allow_nan=False))


def _rebalanced(text: str) -> str | None:
    """`text` without trailing commas, with closing brackets added or surplus ones dropped at its end.

    None when it ends inside a string: what is missing there is content, which nobody can guess.
    """
    kept: list[str] = []
    open_brackets: list[str] = []
    quote = ""
    done = False
    characters = iter(text)
    for character in characters:
        if quote:
            kept.append(character)
            if character == "\\":
                kept.append(next(characters, ""))
            elif character == quote:
                quote = ""
            continue
        if done:
            if character not in "]} \t\r\n":
                return None
            continue
        if character in "\"'":
            quote = character
        elif character in _CLOSERS:
            open_brackets.append(_CLOSERS[character])
        elif character in "]}":
            if not open_brackets or open_brackets.pop() != character:
                return None
            _drop_comma(kept)
            done = not open_brackets
        kept.append(character)
    if quote:
        return None
    if open_brackets:
        _drop_comma(kept)
        kept.extend(reversed(open_brackets))
    return "".join(kept)


def _drop_comma(kept: list[str]) -> None:
    while kept and kept[-1].isspace():
        kept.pop()
    if kept and kept[-1] == ",":
        kept.pop()


def _schema_problems(value: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    # Late: only foreign tools (MCP) need it. The empty registry keeps a foreign `$ref` from reaching the network.
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
        errors = list(kind(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable, RecursionError) as error:
        raise ArgumentProblem(
            f"The schema of this tool cannot be used ({type(error).__name__}), so it cannot be called."
        ) from None
    return [
        _row(tuple(error.absolute_path), str(error.validator), error.message) for error in errors[:MAX_PROBLEMS]
    ]


def _row(where: tuple[Any, ...], kind: str, message: str) -> str:
    name = ".".join(str(part) for part in where)
    if kind == "missing":
        return f"{name} is required"
    if kind == "extra_forbidden":
        return f"{name[:100]} is not an argument of this tool"
    message = message if len(message) <= 200 else message[:200] + "…"
    return f"{name}: {message}" if name else message


def _problem(spec: ToolSpec, what: str) -> str:
    return f"The call of {spec.name} was not run: {what}. Expected arguments: {_signature(spec.parameters)}"


def _signature(schema: dict[str, Any]) -> str:
    """The schema in one short line, e.g. `{path: string, limit?: integer}`."""
    required = schema.get("required", ())
    parts = []
    for name, row in schema.get("properties", {}).items():
        kind = row.get("type", "any") if isinstance(row, dict) else "any"
        parts.append(f"{name}{'' if name in required else '?'}: {kind}")
    return "{" + ", ".join(parts) + "}"
