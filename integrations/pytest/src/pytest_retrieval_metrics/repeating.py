"""Retrievers whose results vary: they are asked several times, and the values are means per query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics import Evaluation, RetrievedRun, evaluate
from retrieval_metrics.adapting.printing import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics import Qrels
    from retrieval_metrics.types import QueryId


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """The results of several rounds of the same questions.

    Attributes:
        evaluation: The mean over the rounds per query and metric; the ranking of a query is that of the round whose
            first metric is nearest to its mean.
        means: The mean of each metric in each round.
    """

    evaluation: Evaluation
    means: Mapping[str, Sequence[float]]

    @classmethod
    def of(cls, qrels: Qrels, runs: Sequence[Any], metrics: Sequence[str], given: Mapping[str, Any]) -> RepeatedRuns:
        """Evaluate each round, and pool them.

        Args:
            qrels: The judgments.
            runs: The run of each round.
            metrics: The metrics.
            given: Other arguments of `evaluate`.
        """
        rounds = [evaluate(qrels, run, list(metrics), **given) for run in runs]
        means = {str(metric): [one.means[metric] for one in rounds] for metric in rounds[0].metrics}
        if len(rounds) == 1:
            return cls(rounds[0], means)
        rows: dict[QueryId, list[tuple[int, Any]]] = {}
        for at, one in enumerate(rounds):
            for query, row in zip(one.queries, one.values, strict=True):
                rows.setdefault(query, []).append((at, row))
        run = RetrievedRun({query: runs[_typical(found)][query] for query, found in rows.items()})
        for one in runs:
            run.errors |= one.errors
        timed = {query: [one.seconds[query] for one in runs if query in one.seconds] for query in rows}
        run.seconds |= {query: fmean(seconds) for query, seconds in timed.items() if seconds}
        pooled = evaluate(qrels, run, list(metrics), **given)
        values = np.array([_mean([row for _, row in rows[query]]) for query in pooled.queries])
        table = values.reshape(pooled.values.shape)
        origin = pooled.scores.needed_origin("pooled")._replace(rounds=len(runs))
        return cls(Evaluation(replace(pooled.scores, values=table, lowest=None, highest=None, origin=origin)), means)

    def notes(self) -> list[str]:
        """Return in words how much the means vary; nothing for a single round."""
        n = len(next(iter(self.means.values())))
        if n == 1:
            return []
        each = (
            f"{metric} {numbers.value(min(means))} to {numbers.value(max(means))}, standard deviation "
            f"{numbers.three(stdev(means))}"
            for metric, means in self.means.items()
        )
        return [f"{n} rounds, pooled per query; the means of single rounds: {'; '.join(each)}"]


def _mean(rows: Sequence[Any]) -> Any:
    """Return the mean of each metric over the rounds in which it is defined; NaN if there is none."""
    table = np.array(rows)
    number = (~np.isnan(table)).sum(axis=0)
    return np.where(number > 0, np.nansum(table, axis=0) / np.maximum(number, 1), np.nan)


def _typical(found: Sequence[tuple[int, Any]]) -> int:
    """Return the round whose first metric is nearest to its mean."""
    middle = _mean([row for _, row in found])[0]
    return min(found, key=lambda one: abs(float(one[1][0]) - float(middle)))[0]
