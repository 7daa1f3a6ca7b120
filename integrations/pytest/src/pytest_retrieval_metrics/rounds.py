"""Evaluate a retriever whose results vary over several rounds of the same questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics import Evaluation, RetrievedRun, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict

    from retrieval_metrics import Matching, Qrels, Rules
    from retrieval_metrics.types import ClustersBy, Exclude, FloatArray, Key, QueryId

    class EvaluateOptions(TypedDict):
        """How rankings are evaluated, as in `rm.evaluate`."""

        match: str | Key | Matching
        rules: str | Rules
        clusters: ClustersBy
        exclude: Exclude | None


class RoundValues(NamedTuple):
    """The values of a query in a round, one for each metric."""

    round_index: int
    values: FloatArray


@dataclass(frozen=True, slots=True)
class RepeatedEvaluation:
    """The results of all rounds of the same questions.

    Attributes:
        evaluation: The rounds, pooled per query.
        means: The mean of each metric in each round.
    """

    evaluation: Evaluation
    means: Mapping[str, Sequence[float]]

    @property
    def n_rounds(self) -> int:
        """How many rounds there are."""
        return len(next(iter(self.means.values())))

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation) -> RepeatedEvaluation:
        """Take what is evaluated already as the only round."""
        return cls(evaluation, {str(metric): [evaluation.means[metric]] for metric in evaluation.metrics})

    @classmethod
    def from_runs(
        cls, qrels: Qrels, runs: Sequence[Any], metrics: Sequence[str], options: EvaluateOptions
    ) -> RepeatedEvaluation:
        """Evaluate each round, and pool them."""
        evaluations = [evaluate(qrels, run, list(metrics), **options) for run in runs]
        means = {}
        for metric in evaluations[0].metrics:
            means[str(metric)] = [evaluation.means[metric] for evaluation in evaluations]
        if len(evaluations) == 1:
            return cls(evaluations[0], means)
        values_by_query: dict[QueryId, list[RoundValues]] = {}
        for index, evaluation in enumerate(evaluations):
            for query, values in zip(evaluation.queries, evaluation.values, strict=True):
                values_by_query.setdefault(query, []).append(RoundValues(index, values))
        pooled = evaluate(qrels, _typical_run(runs, values_by_query), list(metrics), **options)
        rows = [_mean_values(values_by_query[query]) for query in pooled.queries]
        table = np.array(rows).reshape(pooled.values.shape)
        origin = pooled.scores.require_origin("pooled")._replace(rounds=len(runs))
        return cls(Evaluation(replace(pooled.scores.with_values(table), origin=origin)), means)


def _typical_run(
    runs: Sequence[RetrievedRun], values_by_query: Mapping[QueryId, Sequence[RoundValues]]
) -> RetrievedRun:
    """Return the ranking of each query in its most typical round, with all errors and the mean seconds."""
    rankings = {}
    for query, rounds in values_by_query.items():
        rankings[query] = runs[_typical_round(rounds)][query]
    typical = RetrievedRun(rankings)
    for run in runs:
        typical.errors |= run.errors
    for query in values_by_query:
        seconds = [run.seconds[query] for run in runs if query in run.seconds]
        if seconds:
            typical.seconds[query] = fmean(seconds)
    return typical


def _mean_values(rounds: Sequence[RoundValues]) -> FloatArray:
    """Return the mean of each metric over the rounds in which it is defined; NaN if there is none."""
    table = np.array([round_values.values for round_values in rounds])
    n_defined = (~np.isnan(table)).sum(axis=0)
    means: FloatArray = np.where(n_defined > 0, np.nansum(table, axis=0) / np.maximum(n_defined, 1), np.nan)
    return means


def _typical_round(rounds: Sequence[RoundValues]) -> int:
    """Return the index of the round whose first metric is nearest to its mean.

    Rounds in which it is undefined count only if it is undefined in all; then the first round is returned.
    """
    mean = float(_mean_values(rounds)[0])

    def distance(round_values: RoundValues) -> float:
        return abs(float(round_values.values[0]) - mean)

    defined_rounds = []
    for round_values in rounds:
        if not np.isnan(round_values.values[0]):
            defined_rounds.append(round_values)
    return min(defined_rounds or rounds, key=distance).round_index
