"""The known metrics and their names.

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

# The functions that have another name than the metric.
_FUNCTIONS = {"mrr": "reciprocal_rank", "map": "average_precision"}


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


def suggest_call(name: str) -> str:
    """Return what to write in place of a metric that is asked for as if it were a function; empty for other names."""
    metric = NAME_BY_ALIAS.get(name.partition("_at_")[0])
    if metric is None:
        return ""
    function = _FUNCTIONS.get(metric, metric)
    return f"; write evaluate(qrels, run, {metric!r}), or for one ranking metrics.{function}(gains)"
