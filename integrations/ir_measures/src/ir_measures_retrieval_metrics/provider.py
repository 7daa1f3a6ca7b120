"""A provider in the form of ir_measures: which measures it computes, and how."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures import measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Choices
from ir_measures.providers.base import Any as Anything

import retrieval_metrics as rm
from retrieval_metrics.integration_api import Scorer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NAME = "retrieval_metrics"
"""The name of the provider in the registry of ir_measures."""

METRIC_OF = {
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
"""The metric that is the same as each measure."""
LARGEST_GRADE_OF_GDEVAL = 4
RULES = replace(Scorer(rules="trec_eval").rules, missing="zero")
"""Those of trec_eval -c, because ir_measures counts a query without results as 0."""
NOT_RELATIVE = (False, NOT_PROVIDED)


class _Group(NamedTuple):
    """Measures that are computed together."""

    qrels: rm.Qrels
    unjudged: str | None
    metrics: dict[Any, rm.Metric]


class RetrievalMetricsProvider(providers.Provider):  # type: ignore[misc]  # ir_measures is untyped here
    """Computes measures of ir_measures with the metrics of this package, by the rules of trec_eval.

    All measures use one order of equal scores, that of trec_eval: by document id, descending. ir_measures alone takes
    it for the measures of pytrec_eval and the opposite one for RR@k and Judged.

    Example:
        >>> import ir_measures
        >>> from ir_measures import RR, nDCG
        >>> qrels, run = {"q": {"d1": 1, "d2": 2}}, {"q": {"d1": 2.0, "x": 1.0}}
        >>> found = RetrievalMetricsProvider().calc_aggregate([RR, nDCG @ 10], qrels, run)
        >>> found[RR], round(found[nDCG @ 10], 6)  # 1 / (2 + 1 / log2(3))
        (1.0, 0.380094)
    """

    NAME = NAME
    SUPPORTED_MEASURES = (
        measures._P(cutoff=Anything(), rel=Anything(), judged_only=Anything()),  # noqa: SLF001  (the form of a provider)
        measures._RR(cutoff=Anything(), rel=Anything(), judged_only=Anything()),  # noqa: SLF001  (as above)
        measures._Rprec(rel=Anything(), judged_only=Anything()),  # noqa: SLF001
        measures._AP(cutoff=Anything(), rel=Anything(), judged_only=Anything()),  # noqa: SLF001
        measures._nDCG(cutoff=Anything(), dcg=Choices("log2"), gains=Anything(), judged_only=Anything()),  # noqa: SLF001
        measures._nDCG(  # noqa: SLF001
            cutoff=Anything(), dcg=Choices("exp-log2"), gains=Choices(NOT_PROVIDED), judged_only=Anything()
        ),
        measures._R(cutoff=Anything(), rel=Anything(), judged_only=Anything()),  # noqa: SLF001
        measures._Bpref(rel=Anything()),  # noqa: SLF001
        measures._Success(cutoff=Anything(), rel=Anything(), judged_only=Anything()),  # noqa: SLF001
        measures._SetP(rel=Anything(), relative=Choices(*NOT_RELATIVE), judged_only=Anything()),  # noqa: SLF001
        measures._SetR(rel=Anything()),  # noqa: SLF001
        measures._SetF(rel=Anything(), beta=Choices(1, NOT_PROVIDED), judged_only=Anything()),  # noqa: SLF001
        measures._Judged(cutoff=Anything()),  # noqa: SLF001
        measures._ERR(cutoff=Anything()),  # noqa: SLF001
    )

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        wanted = list(measures)
        judged = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        return _Evaluator(wanted, judged)


class _Evaluator(providers.Evaluator):  # type: ignore[misc]  # as above
    """Computes measures for any number of runs; the judgments are read once."""

    def __init__(self, measures: Iterable[Any], qrels: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self.groups = _groups(measures, qrels)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        ranked = as_pytrec_eval_orders(ir_measures.util.RunConverter(run).as_dict_of_dict())
        ranked = {query: ranking for query, ranking in ranked.items() if query in self.qrel_qids}
        if not ranked:
            return
        for group in self.groups:
            found = rm.evaluate(
                group.qrels,
                ranked,
                list(group.metrics.values()),
                rules=RULES,
                unjudged=group.unjudged,
                clusters=None,
            )
            for measure, metric in group.metrics.items():
                for query, value in found.per_query[metric].items():
                    if not isnan(value):  # ir_measures has a value of its own for what is undefined
                        yield ir_measures.Metric(query_id=query, measure=measure, value=value)


def metric_of(measure: Any) -> rm.Metric:
    """Return the metric that is the same as a measure.

    Example:
        >>> metric_of(ir_measures.parse_measure("AP(rel=2)@100"))
        Metric.parse('map(rel=2)@100')
    """
    known = {name: measure[name] for name in measure.SUPPORTED_PARAMS if measure[name] is not NOT_PROVIDED}
    parameters: dict[str, Any] = {}
    if known.get("rel", 1) != 1:  # trec_eval's level of 1 is any grade above 0, because grades are whole
        parameters["rel"] = known["rel"]
    if known.get("dcg") == "exp-log2":
        parameters["gain"] = "exponential"
    if measure.NAME == "ERR":
        parameters["max_grade"] = LARGEST_GRADE_OF_GDEVAL
    return rm.Metric(METRIC_OF[measure.NAME], known.get("cutoff"), **parameters)


def as_pytrec_eval_orders(run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return a run with its scores as pytrec_eval keeps them, in 32 bits, where those that differ little are equal."""
    return {
        query: dict(zip(ranking, np.fromiter(ranking.values(), np.float32, len(ranking)).tolist(), strict=True))
        for query, ranking in run.items()
    }


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
    if not any(isinstance(one, RetrievalMetricsProvider) for one in pipeline):
        provider = RetrievalMetricsProvider()
        providers.registry.setdefault(NAME, provider)
        pipeline.insert(0, provider)


def _groups(wanted: Iterable[Any], qrels: Mapping[str, Mapping[str, int]]) -> list[_Group]:
    metrics: dict[tuple[bool, tuple[tuple[int, int], ...]], dict[Any, rm.Metric]] = {}
    for measure in wanted:
        has = measure.SUPPORTED_PARAMS
        gains = measure["gains"] if "gains" in has else NOT_PROVIDED
        key = (
            "judged_only" in has and bool(measure["judged_only"]),
            () if gains is NOT_PROVIDED else tuple(sorted(gains.items())),
        )
        metrics.setdefault(key, {})[measure] = metric_of(measure)
    return [
        _Group(rm.Qrels(_with_gains(qrels, dict(gains))), "condensed" if judged_only else None, of)
        for (judged_only, gains), of in metrics.items()
        if qrels
    ]


def _with_gains(qrels: Mapping[str, Mapping[str, int]], gains: Mapping[int, int]) -> Mapping[str, Mapping[str, int]]:
    if not gains:
        return qrels
    return {
        query: {document: gains.get(grade, grade) for document, grade in judged.items()}
        for query, judged in qrels.items()
    }
