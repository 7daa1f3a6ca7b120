"""Make the names under which hosts keep the scores of metrics."""

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
    name_parts = [name]
    for option, value in chosen.items():
        value_text = _format_choice(value)
        if value_text != _format_choice(usual[option]):
            name_parts.append(f"{option}-{value_text}")
    return "-".join(name_parts)


def _format_choice(value: object) -> str:
    """Return the text of a choice in characters that every host allows.

    A record is written as its first field, followed by the fields that differ from their defaults.
    """
    if is_dataclass(value) and not isinstance(value, type):
        leading_field, *other_fields = fields(value)
        field_texts = [_format_choice(getattr(value, leading_field.name))]
        for field in other_fields:
            field_value = getattr(value, field.name)
            if field_value == field.default:
                continue
            if field.repr:
                field_texts.append(f"{field.name} {_format_choice(field_value)}")
            else:
                field_texts.append(field.name)
        return " ".join(field_texts)
    if callable(value):
        value = getattr(value, "__name__", type(value).__name__)
    return re.sub(r"[^\w.\-: ]", "_", str(value))
