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

# The functions whose name differs from that of the metric.
_FUNCTION_BY_METRIC = {"mrr": "reciprocal_rank", "map": "average_precision"}


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
    """Return what to write instead if a metric's name is used as a function of the package; "" for other names."""
    metric_name = NAME_BY_ALIAS.get(name.partition("_at_")[0])
    if metric_name is None:
        return ""
    function_name = _FUNCTION_BY_METRIC.get(metric_name, metric_name)
    return f"; write evaluate(qrels, run, {metric_name!r}), or for one ranking metrics.{function_name}(gains)"
