"""Keep the known metrics and their names.

The built-in ones are added by `retrieval_metrics.metrics`, which Python imports before any module inside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.metrics.base.definition import Definition


# Every metric by its canonical name.
DEFINITIONS: dict[str, Definition] = {}
# The canonical name for each spelling.
NAME_BY_ALIAS: dict[str, str] = {}


def add(definition: Definition) -> None:
    """Register a metric."""
    spellings = (definition.name, *definition.aliases)
    for spelling in spellings:
        if spelling in NAME_BY_ALIAS:
            raise ValueError(f"the metric {NAME_BY_ALIAS[spelling]!r} is already called {spelling!r}")
    DEFINITIONS[definition.name] = definition
    NAME_BY_ALIAS.update(dict.fromkeys(spellings, definition.name))


def remove(name: str) -> None:
    """Remove a metric and all its names."""
    definition = DEFINITIONS.pop(name)
    for spelling in (definition.name, *definition.aliases):
        del NAME_BY_ALIAS[spelling]
