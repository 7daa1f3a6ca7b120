"""A provider for ir_measures that computes its measures with the metrics of the core."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures import measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Choices
from ir_measures.providers.base import Any as Anything

import retrieval_metrics as rm
from retrieval_metrics.integration_api import Scorer, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ir_measures.measures import Measure

# The name of the provider in the registry of ir_measures.
NAME = "retrieval_metrics"
# The module whose lines warnings pass over, to point to the line that called it.
HOST = "ir_measures"

# The name of the metric that equals each measure.
METRIC_BY_MEASURE = {
    "AP": "map",
    "Bpref": "bpref",
    "ERR": "err",
    "Judged": "judged",
    "P": "precision",
    "R": "recall",
    "RR": "mrr",
    "Rprec": "r_precision",
    "SetF": "f1",
    "SetP": "precision",
    "SetR": "recall",
    "Success": "hit_rate",
    "nDCG": "ndcg",
}

# The top of the scale in gdeval, which computes ERR for ir_measures.
MAX_GRADE_OF_GDEVAL = 4

# The rules of `trec_eval -c`, because ir_measures counts a query without results as 0.
RULES = replace(Scorer(rules="trec_eval").rules, missing="zero")

# The values of `relative` that leave SetP as it is.
NOT_RELATIVE = (False, NOT_PROVIDED)


class _MeasureOptions(NamedTuple):
    """The options of measures that have to be equal for measures to be computed together.

    Attributes:
        judged_only: Whether unjudged documents are left out.
        gains: Pairs of a grade and its gain, for grades whose gain is another number; sorted, to be hashable.
    """

    judged_only: bool
    gains: tuple[tuple[int, int], ...]


class _MeasureGroup(NamedTuple):
    """Measures that are computed together.

    Attributes:
        qrels: The judgments, with gains in place of grades.
        unjudged: The value of `unjudged` in the core's `evaluate`.
        metrics: The metric that equals each measure.
    """

    qrels: rm.Qrels
    unjudged: str | None
    metrics: dict[Measure, rm.Metric]


class RetrievalMetricsProvider(providers.Provider):  # type: ignore[misc]  # ir_measures is untyped here
    """Computes measures of ir_measures with the metrics of this package, by the rules of trec_eval.

    All measures use one order of equal scores, that of trec_eval: by document id, descending. ir_measures alone takes
    it for the measures of pytrec_eval and the opposite one for RR@k and Judged.

    Example:
        >>> import ir_measures
        >>> from ir_measures import RR, nDCG
        >>> qrels, run = {"q": {"d1": 1, "d2": 2}}, {"q": {"d1": 2.0, "x": 1.0}}
        >>> means = RetrievalMetricsProvider().calc_aggregate([RR, nDCG @ 10], qrels, run)
        >>> means[RR], round(means[nDCG @ 10], 6)  # 1 / (2 + 1 / log2(3))
        (1.0, 0.380094)
    """

    NAME = NAME
    SUPPORTED_MEASURES = (
        measures._P(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        measures._RR(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        measures._Rprec(rel=Anything(), judged_only=Anything()),
        measures._AP(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        measures._nDCG(cutoff=Anything(), dcg=Choices("log2"), gains=Anything(), judged_only=Anything()),
        measures._nDCG(cutoff=Anything(), dcg=Choices("exp-log2"), gains=Choices(NOT_PROVIDED), judged_only=Anything()),
        measures._R(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        measures._Bpref(rel=Anything()),
        measures._Success(cutoff=Anything(), rel=Anything(), judged_only=Anything()),
        measures._SetP(rel=Anything(), relative=Choices(*NOT_RELATIVE), judged_only=Anything()),
        measures._SetR(rel=Anything()),
        measures._SetF(rel=Anything(), beta=Choices(1, NOT_PROVIDED), judged_only=Anything()),
        measures._Judged(cutoff=Anything()),
        measures._ERR(cutoff=Anything()),
    )

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> _Evaluator:
        return _Evaluator(list(measures), ir_measures.util.QrelsConverter(qrels).as_dict_of_dict())


class _Evaluator(providers.Evaluator):  # type: ignore[misc]  # as above
    """Computes measures for any number of runs; the judgments are read once."""

    def __init__(self, measures: Iterable[Measure], qrels: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self.groups = _group_measures(measures, qrels)

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        scores_by_query = ir_measures.util.RunConverter(run).as_dict_of_dict()
        judged_run = {}
        for query, score_by_document in scores_by_query.items():
            if query in self.qrel_qids:
                judged_run[query] = round_to_32_bits(score_by_document)
        if not scores_by_query:
            _warn_about_empty_run(len(self.qrel_qids))
            return
        if not judged_run:
            # No query is judged: the core says why, such as ids that are int here and str there.
            judged_run = scores_by_query
        issued: set[str] = set()
        for group in self.groups:
            evaluation = _evaluate_group(group, judged_run, issued)
            for measure, metric in group.metrics.items():
                for query, value in evaluation.per_query[metric].items():
                    if not isnan(value):  # ir_measures fills in its own value where a measure is undefined
                        yield ir_measures.Metric(query_id=query, measure=measure, value=value)


def _warn_about_empty_run(n_queries: int) -> None:
    warn(
        f"the run is empty, so nothing was retrieved for {n_queries} of {n_queries} judged queries; they score 0",
        host=HOST,
    )


def _evaluate_group(group: _MeasureGroup, run: Mapping[str, Mapping[str, float]], issued: set[str]) -> rm.Evaluation:
    """Return the evaluation of the measures of a group; its warnings point to the line that called ir_measures.

    Args:
        group: The measures.
        run: The run.
        issued: The warnings about this run that were issued before, to which further ones are added.
    """
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        evaluation = rm.evaluate(
            group.qrels, run, list(group.metrics.values()), rules=RULES, unjudged=group.unjudged, clusters=None
        )
    for warning in recorded:
        message = str(warning.message)
        if message not in issued:
            issued.add(message)
            warn(message, warning.category, host=HOST)
    return evaluation


def find_metric(measure: Measure) -> rm.Metric:
    """Return the metric that is the same as a measure.

    Example:
        >>> find_metric(ir_measures.parse_measure("AP(rel=2)@100"))
        Metric.parse('map(rel=2)@100')
    """
    settings = {}
    for name in measure.SUPPORTED_PARAMS:
        if measure[name] is not NOT_PROVIDED:
            settings[name] = measure[name]
    parameters: dict[str, Any] = {}
    if settings.get("rel", 1) != 1:  # trec_eval's level of 1 is any grade above 0, because grades are whole
        parameters["rel"] = settings["rel"]
    if settings.get("dcg") == "exp-log2":
        parameters["gain"] = "exponential"
    if measure.NAME == "ERR":
        parameters["max_grade"] = MAX_GRADE_OF_GDEVAL
    return rm.Metric(METRIC_BY_MEASURE[measure.NAME], settings.get("cutoff"), **parameters)


def round_to_32_bits(score_by_document: Mapping[str, float]) -> dict[str, float]:
    """Return scores rounded to 32 bits, as pytrec_eval keeps them, so that the same scores are ties."""
    scores = np.fromiter(score_by_document.values(), np.float32, len(score_by_document))
    return dict(zip(score_by_document, scores.tolist(), strict=True))


def put_first() -> None:
    """Put this provider first in the default pipeline of ir_measures, which PyTerrier uses.

    What it does not compute falls through to the other providers. Calling it again changes nothing.

    Example:
        >>> import ir_measures
        >>> put_first()
        >>> ir_measures.DefaultPipeline.providers[0].NAME
        'retrieval_metrics'
    """
    pipeline = ir_measures.DefaultPipeline.providers
    if not any(isinstance(provider, RetrievalMetricsProvider) for provider in pipeline):
        provider = RetrievalMetricsProvider()
        providers.registry.setdefault(NAME, provider)
        pipeline.insert(0, provider)


def _group_measures(measures: Iterable[Measure], qrels: Mapping[str, Mapping[str, int]]) -> list[_MeasureGroup]:
    """Return the measures in groups that can be computed together; none without judgments."""
    metrics_by_options: dict[_MeasureOptions, dict[Measure, rm.Metric]] = {}
    for measure in measures:
        metrics_by_options.setdefault(_read_options(measure), {})[measure] = find_metric(measure)
    if not qrels:
        return []
    groups = []
    for options, metrics in metrics_by_options.items():
        unjudged = "condensed" if options.judged_only else None
        groups.append(_MeasureGroup(rm.Qrels(_with_gains(qrels, dict(options.gains))), unjudged, metrics))
    return groups


def _read_options(measure: Measure) -> _MeasureOptions:
    supported = measure.SUPPORTED_PARAMS
    judged_only = "judged_only" in supported and bool(measure["judged_only"])
    gains: tuple[tuple[int, int], ...] = ()
    if "gains" in supported and measure["gains"] is not NOT_PROVIDED:
        gains = tuple(sorted(measure["gains"].items()))
    return _MeasureOptions(judged_only, gains)


def _with_gains(qrels: Mapping[str, Mapping[str, int]], gains: Mapping[int, int]) -> Mapping[str, Mapping[str, int]]:
    """Return judgments in which each grade is replaced by its gain."""
    if not gains:
        return qrels
    qrels_with_gains = {}
    for query, grades in qrels.items():
        qrels_with_gains[query] = {document: gains.get(grade, grade) for document, grade in grades.items()}
    return qrels_with_gains
