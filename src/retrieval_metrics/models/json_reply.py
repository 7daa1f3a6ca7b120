"""Parse a model's reply as JSON, strictly: anything but the fields asked for is a bad reply."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL | re.IGNORECASE)

_KINDS: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list[str]: "a list of texts",
    list[int]: "a list of whole numbers",
}


class BadReplyError(ValueError):
    """A reply that cannot be used.

    Attributes:
        reason: A few words by which bad replies are counted, such as `not JSON`.
    """

    def __init__(self, reason: str, message: str) -> None:
        """Take the reason and a message for the model: what was wrong, and what is wanted."""
        super().__init__(message)
        self.reason = reason


def json_reply(reply: str, fields: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    r"""Return the fields of a reply that is one JSON object.

    A code fence around the object and a `<think>` block before it are removed; any other text is refused. Fields that
    were not asked for are left out.

    Args:
        reply: The reply.
        fields: What each field must hold: `str`, `int`, `bool`, `list[str]` or `list[int]`.
        optional: Likewise for fields that may be absent or null; such fields are left out.

    Raises:
        BadReplyError: If the reply is anything else, for the reason `not JSON` or `wrong fields`.

    Example:
        >>> json_reply('```json\n{"grade": 2, "why": "it says so"}\n```', {"grade": int})
        {'grade': 2}
        >>> json_reply('{"grade": "two"}', {"grade": int})
        Traceback (most recent call last):
        retrieval_metrics.models.json_reply.BadReplyError: "grade" must be a whole number, got "two"
    """
    text = _THINKING.sub("", reply).strip()
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    try:
        said = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadReplyError(
            "not JSON", f"the reply must be one JSON object and nothing else, got {reply[:80]!r}: {error}"
        ) from error
    if not isinstance(said, dict):
        raise BadReplyError("not JSON", f"the reply must be one JSON object and nothing else, got {reply[:80]!r}")
    found = {}
    for name, kind in {**fields, **(optional or {})}.items():
        if name not in fields and said.get(name) is None:
            continue
        if name not in said:
            raise BadReplyError("wrong fields", f'the field "{name}" is missing; it must be {_KINDS[kind]}')
        if not _is(said[name], kind):
            got = json.dumps(said[name], ensure_ascii=False)
            raise BadReplyError("wrong fields", f'"{name}" must be {_KINDS[kind]}, got {got[:80]}')
        found[name] = said[name]
    return found


def _is(value: Any, kind: Any) -> bool:
    if kind in {list[str], list[int]}:
        (of,) = kind.__args__
        return isinstance(value, list) and all(_is(one, of) for one in value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
