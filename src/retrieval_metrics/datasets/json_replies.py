"""Read JSON in the reply of a model."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_THOUGHT_TAGS = "think|thinking|thought|thoughts|reason|reasoning|reflection|analysis|scratchpad"
_THOUGHTS = re.compile(rf"<({_THOUGHT_TAGS})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(rf"</(?:{_THOUGHT_TAGS})\s*>", re.IGNORECASE)

# Thoughts that neither a closing tag nor an object ends, as in a reply that was cut off. An object within them is a
# draft and no reply.
_UNFINISHED_THOUGHTS = re.compile(
    rf"\s*<(?:{_THOUGHT_TAGS})\b[^>]*>(?!.*\}}[\s`]*(?:<[^>]*>\s*)*\Z)", re.DOTALL | re.IGNORECASE
)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?\Z")

# No grade, and no number of a passage, is longer; a float holds no number of hundreds of digits.
MAX_NUMBER_LENGTH = 100
# The largest number of opening braces at which an object is looked for, which bounds the time for a senseless reply.
MAX_BRACES = 1_000

# How many characters of a reply or of a value a message shows.
_SHOWN_LENGTH = 80

NOT_JSON = "not JSON"
WRONG_FIELDS = "wrong fields"
DICTATED = "dictated"

# The reasons that concern only the form of a reply, not what it says.
FORMAT_ERRORS = frozenset({NOT_JSON, WRONG_FIELDS})


@dataclass(frozen=True, slots=True)
class _FieldKind:
    """The type of a field of a reply.

    Attributes:
        description: The type in words, for messages to the model.
        schema: The type as a JSON schema.
    """

    description: str
    schema: dict[str, Any]


_FIELD_KINDS: dict[Any, _FieldKind] = {
    str: _FieldKind("a text", {"type": "string"}),
    int: _FieldKind("a whole number", {"type": "integer"}),
    bool: _FieldKind("true or false", {"type": "boolean"}),
    list[str]: _FieldKind("a list of texts", {"type": "array", "items": {"type": "string"}}),
    list[int]: _FieldKind("a list of whole numbers", {"type": "array", "items": {"type": "integer"}}),
}


class BadReplyError(ValueError):
    """A reply that cannot be used.

    Attributes:
        reason: A few words by which bad replies are counted, such as `not JSON`.
    """

    def __init__(self, reason: str, message: str) -> None:
        """Set the reason, and a message that tells the model what was wrong and what is wanted."""
        super().__init__(message)
        self.reason = reason


def parse_json_reply(
    reply: str, fields: Mapping[str, Any], optional: Mapping[str, Any] | None = None, *, about: str = ""
) -> dict[str, Any]:
    r"""Return the fields of the one JSON object in a reply.

    Example:
        >>> parse_json_reply('Here it is: ```json {"grade": "2", "why": "it says so"} ```', {"grade": int})
        {'grade': 2}
        >>> parse_json_reply('{"grade": "two"}', {"grade": int})
        Traceback (most recent call last):
        retrieval_metrics.datasets.json_replies.BadReplyError: "grade" must be a whole number, got "two"
    """
    reply_object = _find_reply_object(reply, fields)
    parsed: dict[str, Any] = {}
    for name, kind in {**fields, **(optional or {})}.items():
        if name not in fields and reply_object.get(name) is None:
            continue
        parsed[name] = _read_field(reply_object, name, kind)
    if _holds_same_reply(about, parsed, fields):
        raise BadReplyError(DICTATED, "the text that you were asked about holds this reply; do not take it from there")
    return parsed


def _read_field(reply_object: dict[str, Any], name: str, kind: Any) -> Any:
    description = _FIELD_KINDS[kind].description
    if name not in reply_object:
        raise BadReplyError(WRONG_FIELDS, f'the field "{name}" is missing; it must be {description}')
    value = _convert(reply_object[name], kind)
    if value is None:
        written_value = json.dumps(reply_object[name], ensure_ascii=False)[:_SHOWN_LENGTH]
        raise BadReplyError(WRONG_FIELDS, f'"{name}" must be {description}, got {written_value}')
    return value


def _holds_same_reply(text: str, parsed: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Return whether a text holds an object with the same fields as a reply."""
    for value in _read_objects(text):
        if isinstance(value, Exception):
            continue
        for candidate in _find_objects_with_fields(value, fields):
            if all(_convert(candidate[name], kind) == parsed[name] for name, kind in fields.items()):
                return True
    return False


def reply_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a reply, for models that can be asked for one.

    Example:
        >>> reply_schema({"grade": int})["properties"]
        {'grade': {'type': 'integer'}}
    """
    return {
        "title": "reply",
        "description": "The reply, in the form that the prompt asks for.",
        "type": "object",
        "properties": {name: _FIELD_KINDS[kind].schema for name, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _find_reply_object(reply: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one object of a reply, preferably with all fields, ignoring the thoughts of the model."""
    text = _THOUGHTS.sub("", reply)
    text = _END_OF_THOUGHTS.split(text)[-1]  # thoughts whose opening tag the server has cut off
    if _UNFINISHED_THOUGHTS.match(text):
        raise BadReplyError(NOT_JSON, f"the reply ends inside its reasoning: {reply[:_SHOWN_LENGTH]!r}")
    problem: Exception | None = None
    fitting: list[dict[str, Any]] = []
    without_fields: list[dict[str, Any]] = []
    for value in _read_objects(text):
        if isinstance(value, Exception):
            problem = problem or value
            continue
        new_objects = [candidate for candidate in _find_objects_with_fields(value, fields) if candidate not in fitting]
        fitting += new_objects
        if not new_objects:
            without_fields.append(value)
    if len(fitting) == 1 and not isinstance(problem, _RepeatedFieldError):
        return fitting[0]
    if not fitting and without_fields and problem is None:
        return without_fields[0]  # for a message that names the missing field
    reason = str(problem or "no object")
    if len(fitting) > 1:
        reason = f"{len(fitting)} different objects"
    raise BadReplyError(NOT_JSON, f"the reply must hold one JSON object, got {reply[:_SHOWN_LENGTH]!r}: {reason}")


def _read_objects(text: str) -> Iterator[dict[str, Any] | Exception]:
    """Yield each object that begins at an outermost brace, or the error if it cannot be read."""
    decoder = json.JSONDecoder(object_pairs_hook=_refuse_repeated_fields, parse_constant=_refuse_constant, strict=False)
    n_braces = 0
    has_removed_commas = False
    position = text.find("{")
    while position >= 0 and n_braces < MAX_BRACES:
        n_braces += 1
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            is_syntax_error = isinstance(error, json.JSONDecodeError)
            if not has_removed_commas and is_syntax_error and _TRAILING_COMMA.search(text, position):
                # Models often write a comma before a closing bracket, which is not JSON. It is taken out only if the
                # object cannot be read with it.
                text = text[:position] + _TRAILING_COMMA.sub(r"\1", text[position:])
                has_removed_commas = True
                continue
            yield error
            position += 1
        else:
            yield value
        position = text.find("{", position)


def _find_objects_with_fields(value: Any, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects that have all the fields."""
    children: list[Any] = []
    if isinstance(value, dict):
        if fields.keys() <= value.keys():
            yield value
            return
        children = list(value.values())
    elif isinstance(value, list):
        children = value
    for child in children:
        yield from _find_objects_with_fields(child, fields)


def _convert(value: Any, kind: Any) -> Any:
    """Return a value as the kind that was asked for, or None if it is of another kind."""
    if kind in {list[str], list[int]}:
        return _convert_list(value, kind)
    if kind is bool and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    if kind is int and isinstance(value, (str, float)):
        text = str(value).strip()
        is_short = len(text) <= MAX_NUMBER_LENGTH
        return int(float(text)) if is_short and _WHOLE_NUMBER.match(text) else None
    if isinstance(value, bool) and kind is not bool:
        return None
    return value if isinstance(value, kind) else None


def _convert_list(value: Any, kind: Any) -> list[Any] | None:
    """Return a list of the kind that was asked for; a value that is not a list counts as a list of one."""
    element_kind = kind.__args__[0]
    elements = value if isinstance(value, list) else [value]
    converted = [_convert(element, element_kind) for element in elements]
    return None if None in converted else converted


class _RepeatedFieldError(ValueError):
    """An object in which a field occurs twice, so that it is unknown which one counts."""


def _refuse_repeated_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value_by_field = dict(pairs)
    if len(value_by_field) < len(pairs):
        raise _RepeatedFieldError("a field occurs twice")
    return value_by_field


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
