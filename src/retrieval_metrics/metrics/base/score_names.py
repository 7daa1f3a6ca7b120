"""The names under which hosts keep the scores of metrics."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def scored_name(
    name: str, chosen: Mapping[str, object], usual: Mapping[str, object], *, prefix: str | None = None
) -> str:
    """Return the name under which a host keeps the scores of a metric, so that two sets of scores stay apart.

    Hosts pool or overwrite scores with equal names. So a name holds every choice that is not the usual one.

    Args:
        name: The name of the metric.
        chosen: What was chosen, by the name of the argument.
        usual: The default of each.
        prefix: What the user put before the name instead; the name of the metric then follows it, and nothing else.

    Raises:
        TypeError: If the prefix is not a text.

    Example:
        >>> usual = {"retrieved": "trace", "match": "id", "max_grade": None}
        >>> scored_name("mrr", usual, usual)
        'mrr'
        >>> scored_name("mrr", usual | {"retrieved": "outputs.reranked", "max_grade": 4}, usual)
        'mrr-retrieved-outputs.reranked-max_grade-4'
        >>> scored_name("mrr", usual | {"retrieved": "outputs.reranked"}, usual, prefix="reranked ")
        'reranked mrr'
    """
    if prefix is not None:
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a text, got {prefix!r} ({type(prefix).__name__})")
        return f"{prefix}{name}"
    parts = [name]
    for option, value in chosen.items():
        value_text = _format_choice(value)
        if value_text != _format_choice(usual[option]):
            parts.append(f"{option}-{value_text}")
    return "-".join(parts)


def _format_choice(value: object) -> str:
    """Return a choice in the characters that every host allows: of a record its first field, and what is unusual."""
    if is_dataclass(value) and not isinstance(value, type):
        first, *others = fields(value)
        parts = [_format_choice(getattr(value, first.name))]
        for field in others:
            field_value = getattr(value, field.name)
            if field_value == field.default:
                continue
            if field.repr:
                parts.append(f"{field.name} {_format_choice(field_value)}")
            else:
                parts.append(field.name)
        return " ".join(parts)
    if callable(value):
        value = getattr(value, "__name__", type(value).__name__)
    return re.sub(r"[^\w.\-: ]", "_", str(value))
