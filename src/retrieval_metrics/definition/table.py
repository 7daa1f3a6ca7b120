"""The known metrics and their names."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.definition.definition import Definition

_DEFINITIONS: dict[str, Definition] = {}
_NAME_OF: dict[str, str] = {}

DEFINITIONS: Mapping[str, Definition] = MappingProxyType(_DEFINITIONS)
"""Every metric by its canonical name."""

NAME_OF: Mapping[str, str] = MappingProxyType(_NAME_OF)
"""The canonical name for each spelling."""


def add(definition: Definition) -> None:
    """Register a metric.

    Raises:
        ValueError: If one of its names is already taken.
    """
    spellings = (definition.name, *definition.aliases)
    for spelling in spellings:
        if spelling in NAME_OF:
            raise ValueError(f"the metric {NAME_OF[spelling]!r} is already called {spelling!r}")
    _DEFINITIONS[definition.name] = definition
    _NAME_OF.update(dict.fromkeys(spellings, definition.name))


def remove(name: str) -> None:
    """Remove a metric and all its names.

    Raises:
        KeyError: If there is no metric with that canonical name.
    """
    definition = _DEFINITIONS.pop(name)
    for spelling in (definition.name, *definition.aliases):
        del _NAME_OF[spelling]
