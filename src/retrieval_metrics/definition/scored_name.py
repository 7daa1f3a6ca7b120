"""Names of scores for hosts: of letters, digits and a little punctuation, and with everything that was chosen."""

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
    said = {key: _said(value) for key, value in chosen.items()}
    return name + "".join(f"-{key}-{value}" for key, value in said.items() if value != _said(usual[key]))


def _said(value: object) -> str:
    """Return a choice in the characters that every host allows: of a record its first field, and what is unusual."""
    if is_dataclass(value) and not isinstance(value, type):
        first, *others = fields(value)
        unusual = [field for field in others if getattr(value, field.name) != field.default]
        each = [f"{field.name} {_said(getattr(value, field.name))}" if field.repr else field.name for field in unusual]
        return " ".join([_said(getattr(value, first.name)), *each])
    if callable(value):
        value = getattr(value, "__name__", type(value).__name__)
    return re.sub(r"[^\w.\-: ]", "_", str(value))
