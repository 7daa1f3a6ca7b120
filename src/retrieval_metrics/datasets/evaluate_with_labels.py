"""Evaluate with a model's grades for all queries, corrected by people's grades for a sample of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import permutations
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import proportion
from retrieval_metrics.comparison.compare import evaluate_system
from retrieval_metrics.datasets.human_model_estimate import (
    Estimate,
    EstimatedDifference,
    EstimatedMean,
    GradedSample,
    format_graders,
    model_graders_note,
    resolve_sample,
)
from retrieval_metrics.datasets.labels import Labels, Scale
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import name_runs
from retrieval_metrics.metrics.base import score as ideal
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, as_metrics, with_relevance_threshold
from retrieval_metrics.statistics import Sums, corrected_mean, spending_levels

if TYPE_CHECKING:
    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.datasets.sample import Sample
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import Key, RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.ranking_order import Matching
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
    """Estimate means and differences of systems from a model's grades and a few people's.

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
        sample: How people's queries were drawn: `questions.sample(n)`, or `pool.sample(n, graded=model, runs=runs)`,
            which draws more of the queries on which the model sees a difference between the systems. If they were drawn
            otherwise, the probability of drawing each, by query id; the population is then the queries that the model
            graded.
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
        Means with intervals, differences, the means from people and from the model alone, their agreement, and how many
        of people's labels the estimate is worth. Print it to see them.

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
        >>> queries = [f"q{at}" for at in range(100)]
        >>> run = {query: ["d1", "d2"] if at % 3 else ["d2", "d1"] for at, query in enumerate(queries)}
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
    drawn = resolve_sample(sample, model)
    scale = Scale.merge(each.scale for each in (human, model) if isinstance(each, Labels))
    threshold = None if scale is None else scale.relevant_from
    spent = _spent(looks, len(drawn), len(drawn.population), level)
    chosen = with_relevance_threshold(as_metrics(metrics), threshold)
    named = name_runs(runs, drawn.population, "sampled from")
    truths = GradedSample.of(human, model, drawn, scale)
    options: dict[str, Any] = {"rules": rules, "match": match, "ties": ties, "clusters": None}
    known: dict[str, _SystemValues] = {}
    for name, run in named.items():  # not a comprehension, which before Python 3.12 adds a stack frame
        graded = evaluate_system(name, partial(evaluate, truths.human, run, chosen, **options)).scores
        guessed = evaluate_system(name, partial(evaluate, truths.model, run, chosen, **options)).scores
        known[name] = _SystemValues(graded, guessed)
    design = _SampleDesign.of(drawn, _labels_of_clusters(human, model, drawn, clusters))
    estimated = {
        (str(metric), name): _mean(metric, name, values, design) for metric in chosen for name, values in known.items()
    }
    comparisons = len(chosen) * len(known) * (len(known) - 1) // 2
    differences = tuple(
        _difference(metric, pair, known, design, spent.level, comparisons)
        for metric in chosen
        for pair in permutations(known, 2)
    )
    names = (format_graders(human, "people"), format_graders(model, "the model"))
    return Estimate(
        estimated=estimated,
        differences=differences,
        sample=drawn,
        level=spent.level,
        agreement=truths.agreement(names, spent.level, threshold),
        names=names,
        notes=(*spent.notes, *model_graders_note(human), *truths.notes(named, chosen, drawn, match)),
    )


class _SpentLevel(NamedTuple):
    """The level of this look at the labels, and what is said of it."""

    level: float
    notes: tuple[str, ...]


def _spent(looks: Sequence[int] | None, size: int, of: int, level: float) -> _SpentLevel:
    if looks is None:
        return _SpentLevel(level, ())
    if not isinstance(looks, Iterable) or isinstance(looks, str):
        raise TypeError(f"looks must be the numbers of queries at which you look, such as [15, 25, 40], got {looks!r}")
    levels = spending_levels(looks, level)
    if size not in looks:
        raise ValueError(f"looks must contain the size of the sample, {size}, got {list(looks)}")
    if looks[-1] > of:
        raise ValueError(f"a look at {looks[-1]:,} queries is never reached: there are {of:,}, got {list(looks)}")
    at = list(looks).index(size)
    kept = f"look {at + 1} of {len(levels)}: at {100 * levels[at]:.3g} %, so that all together keep {100 * level:.3g} %"
    return _SpentLevel(levels[at], (kept,))


class _SystemValues(NamedTuple):
    """The scores of one system with people's grades and with the model's."""

    human: Scores
    model: Scores

    def columns(self, metric: Metric, design: _SampleDesign) -> tuple[FloatArray, FloatArray]:
        by_people, by_model = (scores.per_query[str(metric)] for scores in self)
        people = np.array([by_people.get(query, np.nan) for query in design.sample.queries])
        return people, np.array([by_model.get(query, np.nan) for query in design.sample.population])

    def bounds(self, metric: Metric) -> tuple[float, float]:
        values = np.array([value for scores in self for value in scores.per_query[str(metric)].values()])
        values = values[~np.isnan(values)]
        best = np.concatenate([scores.best(metric) for scores in self])
        highest = float(np.max(best, initial=0.0, where=np.isfinite(best)))
        smallest, largest = (float(end(values, default=0.0)) for end in (min, max))
        return ideal.bounds(metric, smallest, largest, highest or None)


class _SampleDesign(NamedTuple):
    """How the sample was drawn, in arrays."""

    sample: Sample
    labelled: Any
    weights: Any
    strata: Any
    clusters: Any

    @classmethod
    def of(cls, sample: Sample, clusters: Any) -> _SampleDesign:
        place = {query: at for at, query in enumerate(sample.population)}
        strata = None
        if sample.strata is not None:
            numbered = {stratum: at for at, stratum in enumerate(dict.fromkeys(sample.strata.values()))}
            strata = [numbered[sample.strata[query]] for query in sample.population]
        weights = [1 / sample.probabilities[query] for query in sample.queries]
        return cls(sample, [place[query] for query in sample.queries], weights, strata, clusters)

    def corrected(
        self, human: FloatArray, model: FloatArray, span: float, *, of_difference: bool = False
    ) -> CorrectedMean:
        return corrected_mean(
            human,
            model,
            self.labelled,
            weights=self.weights,
            strata=self.strata,
            clusters=self.clusters,
            span=1.0 if isinf(span) else span,
            of_difference=of_difference,
        )


def _mean(metric: Metric, system: str, values: _SystemValues, design: _SampleDesign) -> EstimatedMean:
    people, model = values.columns(metric, design)
    low, high = values.bounds(metric)
    try:
        found = design.corrected(people, model, high - low)
    except ValueError as error:
        alone = "" if design.clusters is None else "; clusters=None takes all queries as independent"
        error.add_note(f"while estimating {metric} of {system!r}{alone}")
        raise
    binary = ideal.share_binary(metric, Sums.from_defined_values(people), values.human.sums("two_valued", metric))
    return EstimatedMean(str(metric), system, found, (low, high), binary)


def _difference(
    metric: Metric,
    pair: tuple[str, str],
    known: Mapping[str, _SystemValues],
    design: _SampleDesign,
    level: float,
    comparisons: int,
) -> EstimatedDifference:
    (ours, our_model), (theirs, their_model) = (known[name].columns(metric, design) for name in pair)
    ends = [known[name].bounds(metric) for name in pair]
    span = max(high for _, high in ends) - min(low for low, _ in ends)
    found = design.corrected(ours - theirs, our_model - their_model, span, of_difference=True)
    return EstimatedDifference(str(metric), *pair, found, span, level, comparisons)


def _labels_of_clusters(human: Any, model: Any, sample: Sample, by: ClustersBy) -> Any:
    """Return the cluster of each query of the population; None if all are independent."""
    chosen: Any = by
    if by == "source" and sample.sources:
        chosen = sample.sources.get
    for labels in (model, human):
        given = labels.qrels if isinstance(labels, Labels) else labels
        found = find_clusters(given, as_qrels(given), chosen)
        if found is not None:
            return found.select(sample.population).labels
    return None
