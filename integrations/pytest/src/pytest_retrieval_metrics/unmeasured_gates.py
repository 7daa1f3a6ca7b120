"""Report what no bound or baseline can decide: metrics without either, and rankings that meet no judgment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval_metrics.gate_wording import NO_COMMON_IDS, NOT_GATED, format_unguarded
from pytest_retrieval_metrics.verdicts import Verdict
from retrieval_metrics.integration_api.pytest_support import find_data_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics import Evaluation


def unguarded_gate(metrics: Iterable[str]) -> list[Verdict]:
    """Report metrics that have neither a bound nor a baseline: they cannot fail."""
    return [Verdict(metric=metric, outcome="not_compared", figures=format_unguarded(metric)) for metric in metrics]


def shown_metrics(metrics: Iterable[str]) -> list[Verdict]:
    """Report metrics that are only shown beside those that have a bound."""
    return [Verdict(metric=metric, outcome="not_gated", figures=NOT_GATED) for metric in metrics]


def common_ids_gate(evaluation: Evaluation) -> list[Verdict]:
    """Refuse rankings without any judged document if a mean is 0, because their ids probably differ from the judged."""
    zero_metric = _find_zero_metric(evaluation)
    if zero_metric is None:
        return []
    for warning in find_data_warnings(evaluation.scores):
        if warning.is_blocking:  # its message also says what to write
            return [Verdict(metric=zero_metric, outcome="not_measured", figures=warning.message)]
    origin = evaluation.scores.origin
    if origin is None or not origin.judged.is_empty:
        return []
    return [Verdict(metric=zero_metric, outcome="not_measured", figures=NO_COMMON_IDS)]


def _find_zero_metric(evaluation: Evaluation) -> str | None:
    """Return the first metric in which higher is better and the mean is 0."""
    for metric in evaluation.metrics:
        is_computed = metric.definition.sign > 0 and not metric.definition.is_given
        if is_computed and evaluation.means[metric] == 0:
            return str(metric)
    return None
