"""Evaluate with a model's grades for all queries, corrected by people's grades for a sample of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import proportion
from retrieval_metrics.comparison.system_warnings import repeat_warnings_once
from retrieval_metrics.datasets.estimate_wording import gap_notes, look_note, model_graders_note
from retrieval_metrics.datasets.graded_sample import (
    GradedSample,
    find_model_graders,
    format_graders,
    resolve_sample,
)
from retrieval_metrics.datasets.human_model_estimate import Estimate, EstimatedDifference, EstimatedMean
from retrieval_metrics.datasets.labels import Labels
from retrieval_metrics.datasets.rubric import Scale
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import name_runs
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, as_metrics, with_relevance_threshold
from retrieval_metrics.metrics.base.value_bounds import bounds as score_bounds
from retrieval_metrics.metrics.base.value_bounds import share_binary
from retrieval_metrics.statistics import Sums, corrected_mean, spending_levels

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.datasets.sample import Sample
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics import CorrectedMean


def evaluate_with_labels(
    runs: Mapping[str, RunMapping | Run] | RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    human: Labels | QuestionsOrQrels,
    model: Labels | QuestionsOrQrels,
    sample: Sample | Mapping[Any, float],
    clusters: ClustersBy = "source",
    rules: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    level: float = 0.95,
    looks: Sequence[int] | None = None,
) -> Estimate:
    """Estimate means and differences of systems from a model's grades and a few human grades.

    Model grades alone are biased, so intervals from them rarely cover the truth. Here the metric is computed with the
    model's grades for all queries, and with people's for a random sample of them. A regression of the second on the
    first, over the sample, estimates the mean that people's grades would give for all queries, with a confidence
    interval; see `retrieval_metrics.statistics.corrected_mean` for the formula. The bias of the model is corrected, and
    a useless model widens the interval by a few per cent.

    Args:
        runs: The run of each system, by the name of the system; or a single run.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`. If a rubric says from which grade a document is
            relevant (`Labels.scale`), `mrr` means `mrr(rel=2)`, and so on.
        human: People's grades of the whole pool of each sampled query: `Labels`, or judgments as in `evaluate`. Grades
            of other queries are ignored.
        model: The model's grades for all queries, likewise.
        sample: How the human-graded queries were drawn: `questions.sample(n)`, or `pool.sample(n, graded=model,
            runs=runs)`, which draws more of the queries on which the model sees a difference between the systems. If
            they were drawn otherwise, the probability of drawing each, by query id; the population is then the queries
            that the model graded.
        clusters: The clusters of the queries, as in `evaluate`; `"source"` takes the sources in the sample or the
            judgments.
        rules: The rules, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        ties: How equal scores are ordered, as in `evaluate`.
        level: Confidence level of the intervals.
        looks: If you look at the estimate several times while people grade more: how many queries they have graded at
            each look, such as `[15, 25, 40]`; the last is the largest number planned. Each look then has a level of its
            own, so that all together keep `level` (`retrieval_metrics.statistics.spending_levels`).

    Returns:
        Means with intervals, differences, the means from people and from the model alone, their agreement, and the
        effective number of human-graded queries. Print it to see them.

    Raises:
        TypeError: If `sample` is neither a sample nor probabilities; hand-picked queries say nothing about the others.
        ValueError: If looks do not rise or do not contain the size of the sample, people did not grade a sampled query,
            graded a document differently (`Labels.resolved`) or with a grade that the model's rubric lacks, graded
            fewer than 5 queries for which a metric is defined, or have no graded document in common with the model.

    Warns:
        RetrievalWarning: As in `evaluate`, with the name of the system.

    Example:
        The model grades everything as relevant, so MRR is 1. For people only d1 is, which is at rank 2 for 6 of the 20
        sampled queries: (14 + 6/2) / 20 = .85.

        >>> import retrieval_metrics as rm
        >>> queries = [f"q{number}" for number in range(100)]
        >>> run = {query: ["d1", "d2"] if number % 3 else ["d2", "d1"] for number, query in enumerate(queries)}
        >>> sample = rm.EvaluationSet.from_dataset({query: [] for query in queries}).sample(20)
        >>> people = {query: {"d1": 3, "d2": 0} for query in sample}
        >>> model = {query: {"d1": 3, "d2": 1} for query in queries}
        >>> estimate = rm.evaluate_with_labels(run, "mrr", human=people, model=model, sample=sample)
        >>> round(estimate.means["mrr"]["the run"], 2), estimate.model["mrr"]["the run"]
        (0.85, 1.0)

    References:
        W. G. Cochran (1977). Sampling Techniques, chapter 7.
        A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic (2023). Prediction-powered inference.
    """
    proportion(level, "level")
    resolved_sample = resolve_sample(sample, model)
    scale = Scale.merge(labels.scale for labels in (human, model) if isinstance(labels, Labels))
    threshold = None if scale is None else scale.relevant_from
    notes = []
    look = _find_look(looks, resolved_sample, level)
    if look is not None:
        notes.append(look_note(look, level))
        level = look.level
    resolved_metrics = with_relevance_threshold(as_metrics(metrics), threshold)
    named_runs = name_runs(runs, resolved_sample.population, "sampled from")
    graded_sample = GradedSample.from_judgments(human, model, resolved_sample, scale)
    options: dict[str, Any] = {"rules": rules, "match": match, "ties": ties, "clusters": None}
    scores_by_system: dict[str, _SystemScores] = {}
    with repeat_warnings_once(len(named_runs)) as system_warnings:
        for system, run in named_runs.items():
            with system_warnings.record(system, f"while evaluating the system {system!r}"):
                human_scores = evaluate(graded_sample.human, run, resolved_metrics, **options).scores
                model_scores = evaluate(graded_sample.model, run, resolved_metrics, **options).scores
            scores_by_system[system] = _SystemScores(human_scores, model_scores)
    design = _SampleDesign.from_sample(resolved_sample, _find_cluster_labels(human, model, resolved_sample, clusters))
    estimated: dict[tuple[str, str], EstimatedMean] = {}
    differences: list[EstimatedDifference] = []
    for metric in resolved_metrics:
        for system, scores in scores_by_system.items():
            estimated[str(metric), system] = _estimate_mean(metric, system, scores, design)
    n_systems = len(scores_by_system)
    n_differences = len(resolved_metrics) * n_systems * (n_systems - 1) // 2
    for metric in resolved_metrics:
        for pair in permutations(scores_by_system, 2):
            differences.append(_estimate_difference(metric, pair, scores_by_system, design, level, n_differences))
    names = (format_graders(human, "humans"), format_graders(model, "the model"))
    agreement = graded_sample.agreement(names, level, threshold)
    model_graders = find_model_graders(human)
    if model_graders:
        notes.append(model_graders_note(model_graders))
    notes += gap_notes(graded_sample.find_gaps(named_runs, resolved_metrics, resolved_sample, match))
    return Estimate(
        estimated=estimated,
        differences=tuple(differences),
        sample=resolved_sample,
        level=level,
        agreement=agreement,
        names=names,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class Look:
    """One of several looks at the labels while people grade more.

    Attributes:
        number: Which look it is, from 1.
        n_looks: How many are planned.
        level: The confidence level of this look.
    """

    number: int
    n_looks: int
    level: float


def _find_look(looks: Sequence[int] | None, sample: Sample, level: float) -> Look | None:
    """Return the look at a sample of this size; None if no looks are planned."""
    if looks is None:
        return None
    if not isinstance(looks, Iterable) or isinstance(looks, str):
        raise TypeError(f"looks must be the numbers of queries at which you look, such as [15, 25, 40], got {looks!r}")
    levels = spending_levels(looks, level)
    size = len(sample)
    if size not in looks:
        raise ValueError(f"looks must contain the size of the sample, {size}, got {list(looks)}")
    n_queries = len(sample.population)
    if looks[-1] > n_queries:
        raise ValueError(
            f"a look at {looks[-1]:,} queries is never reached: there are {n_queries:,}, got {list(looks)}"
        )
    index = list(looks).index(size)
    return Look(index + 1, len(levels), levels[index])


@dataclass(frozen=True, slots=True)
class _MetricValues:
    """The values of one metric for one system.

    Attributes:
        human: The values of the sampled queries with people's grades.
        model: The values of all queries with the model's grades.
    """

    human: FloatArray
    model: FloatArray


@dataclass(frozen=True, slots=True)
class _SystemScores:
    """The scores of one system with people's grades and with the model's."""

    human: Scores
    model: Scores

    def values(self, metric: Metric, sample: Sample) -> _MetricValues:
        """Return the values of a metric, NaN where it is undefined."""
        human = self.human.per_query[str(metric)]
        model = self.model.per_query[str(metric)]
        return _MetricValues(
            human=np.array([human.get(query, np.nan) for query in sample.queries]),
            model=np.array([model.get(query, np.nan) for query in sample.population]),
        )

    def bounds(self, metric: Metric) -> tuple[float, float]:
        """Return the smallest and the largest value that the metric can have on these queries."""
        human = self.human.per_query[str(metric)]
        model = self.model.per_query[str(metric)]
        values = np.array([*human.values(), *model.values()])
        values = values[~np.isnan(values)]
        ideal_values = np.concatenate([self.human.best(metric), self.model.best(metric)])
        largest_ideal = float(np.max(ideal_values, initial=0.0, where=np.isfinite(ideal_values)))
        smallest = float(min(values, default=0.0))
        largest = float(max(values, default=0.0))
        return score_bounds(metric, smallest, largest, largest_ideal or None)


@dataclass(frozen=True, slots=True)
class _SampleDesign:
    """How the sample was drawn, in the form that `corrected_mean` takes.

    Attributes:
        sample: The sample.
        labelled: The positions of the sampled queries in the population.
        weights: The inverse probability of drawing each sampled query.
        strata: The number of the stratum of each query of the population; None if there are no strata.
        clusters: The cluster of each query of the population; None if all are independent.
    """

    sample: Sample
    labelled: list[int]
    weights: list[float]
    strata: list[int] | None
    clusters: Any

    @classmethod
    def from_sample(cls, sample: Sample, clusters: Any) -> _SampleDesign:
        position_by_query = {query: position for position, query in enumerate(sample.population)}
        strata = None
        if sample.strata is not None:
            distinct_strata = dict.fromkeys(sample.strata.values())
            number_by_stratum = {stratum: number for number, stratum in enumerate(distinct_strata)}
            strata = [number_by_stratum[sample.strata[query]] for query in sample.population]
        return cls(
            sample=sample,
            labelled=[position_by_query[query] for query in sample.queries],
            weights=[1 / sample.probabilities[query] for query in sample.queries],
            strata=strata,
            clusters=clusters,
        )

    def corrected_mean(
        self, human: FloatArray, model: FloatArray, max_difference: float, *, of_difference: bool = False
    ) -> CorrectedMean:
        return corrected_mean(
            human,
            model,
            self.labelled,
            weights=self.weights,
            strata=self.strata,
            clusters=self.clusters,
            span=1.0 if isinf(max_difference) else max_difference,
            of_difference=of_difference,
        )


def _estimate_mean(metric: Metric, system: str, scores: _SystemScores, design: _SampleDesign) -> EstimatedMean:
    values = scores.values(metric, design.sample)
    low, high = scores.bounds(metric)
    try:
        estimate = design.corrected_mean(values.human, values.model, high - low)
    except ValueError as error:
        remedy = "" if design.clusters is None else "; clusters=None takes all queries as independent"
        error.add_note(f"while estimating {metric} of {system!r}{remedy}")
        raise
    two_valued = scores.human.sums("two_valued", metric)
    binary = share_binary(metric, Sums.from_defined_values(values.human), two_valued)
    return EstimatedMean(str(metric), system, estimate, (low, high), binary)


def _estimate_difference(
    metric: Metric,
    pair: tuple[str, str],
    scores_by_system: Mapping[str, _SystemScores],
    design: _SampleDesign,
    level: float,
    n_differences: int,
) -> EstimatedDifference:
    system, baseline = pair
    system_values = scores_by_system[system].values(metric, design.sample)
    baseline_values = scores_by_system[baseline].values(metric, design.sample)
    system_low, system_high = scores_by_system[system].bounds(metric)
    baseline_low, baseline_high = scores_by_system[baseline].bounds(metric)
    max_difference = max(system_high, baseline_high) - min(system_low, baseline_low)
    estimate = design.corrected_mean(
        system_values.human - baseline_values.human,
        system_values.model - baseline_values.model,
        max_difference,
        of_difference=True,
    )
    return EstimatedDifference(str(metric), system, baseline, estimate, max_difference, level, n_differences)


def _find_cluster_labels(human: Any, model: Any, sample: Sample, clusters: ClustersBy) -> Any:
    """Return the cluster of each query of the population; None if all are independent."""
    if clusters == "source" and sample.sources:
        clusters = sample.sources.get
    for labels in (model, human):
        judgments = labels.qrels if isinstance(labels, Labels) else labels
        query_clusters = find_clusters(judgments, as_qrels(judgments), clusters)
        if query_clusters is not None:
            return query_clusters.select(sample.population).labels
    return None
