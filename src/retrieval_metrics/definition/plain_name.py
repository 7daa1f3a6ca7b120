"""Names of metrics for hosts that take only letters, digits and a little punctuation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.definition.definition import ParameterValue
    from retrieval_metrics.definition.metric import Metric


def plain_name(metric: Metric, options: Iterable[tuple[str, ParameterValue]] | None = None) -> str:
    """Return the name of a metric without `@`, parentheses, `=` and `;`, including all of its parameters.

    Args:
        metric: A metric.
        options: Names and values to append after the cut-off; None appends the parameters of the metric.

    Example:
        >>> from retrieval_metrics.definition.metric import Metric
        >>> [plain_name(Metric.parse(name)) for name in ("ndcg@10", "map", "precision(rel=2)@5")]
        ['ndcg_at_10', 'map', 'precision_at_5-rel-2']
    """
    cutoff = "" if metric.k is None else f"_at_{metric.k}"
    said = metric.parameters if options is None else options
    return f"{metric.name}{cutoff}" + "".join(f"-{key}-{str(value).replace(';', '_')}" for key, value in said)
