"""Encode metrics for saved files by name and the facts that the name does not hold, and decode them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from retrieval_metrics.metrics.base.given_metrics import GivenMetric, as_given_metric, read_bounds
from retrieval_metrics.metrics.base.metric import parse_computable_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.metrics.base.metric import Metric


def encode_metric(metric: Metric) -> dict[str, Any]:
    """Return a metric by its name; a user-defined one with the module that defined it, a given one with its facts."""
    name = str(metric)
    if isinstance(metric, GivenMetric):
        bounds = [bound if isfinite(bound) else None for bound in metric.bounds]
        return {"metric": name, "bounds": bounds, "lower_is_better": metric.lower_is_better}
    recipe = metric.definition.recipe
    if recipe is None:
        return {"metric": name}
    return {"metric": name, "module": recipe.module}


def decode_metric(entry: Mapping[str, Any], file_name: str) -> Metric:
    """Return the metric of an entry, as `encode_metric` returned it.

    Raises:
        ValueError: If the metric is not known here.
    """
    if "bounds" in entry:
        name = str(entry["metric"])
        bounds = read_bounds([name], tuple(entry["bounds"]))[name]
        return as_given_metric(name, bounds, lower_is_better=bool(entry.get("lower_is_better")))
    try:
        return parse_computable_metric(entry["metric"])
    except ValueError as error:
        module = entry.get("module")
        if module is None:
            raise ValueError(f"{file_name} has a metric that is not known here: {error}") from error
        advice = f"first `import {module}`, which defined it"
        if module == "__main__":
            advice = "call define_metric as in the program that saved it"
        raise ValueError(
            f"{file_name} has a user-defined metric, {entry['metric']!r}, which is not known here; {advice}, "
            "and load the file again (loading a file imports nothing)"
        ) from error
