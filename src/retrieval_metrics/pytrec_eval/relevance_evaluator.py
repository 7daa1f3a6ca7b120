"""`RelevanceEvaluator` and the functions beside it, as pytrec_eval has them."""

from __future__ import annotations

from math import exp, fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.pytrec_eval.asked import asked
from retrieval_metrics.pytrec_eval.measure_values import MeasureValues
from retrieval_metrics.scoring.rules import TREC_EVAL
from retrieval_metrics.scoring.score import refuse, truth_under

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class RelevanceEvaluator:
    """Evaluates runs against judgments with the measures of trec_eval.

    Where pytrec_eval ends the interpreter, hangs or ignores a part of a name (`P_0`, `ndcg.1=3`, `map_10`, half a
    surrogate pair in an id, only negative grades, a grade of 60,000), this raises an error or returns the value.

    Args:
        query_relevance: The grade of each judged document: `{query: {document: grade}}`. Queries without judgments are
            left out.
        measures: Names such as `"map"`, `"ndcg_cut_10"`, `"P.5,10"`, and the nicknames `official`, `set` and
            `all_trec`.
        relevance_level: The lowest relevant grade.
        judged_docs_only_flag: Remove unjudged documents from the rankings.

    Raises:
        TypeError: If a grade is not a whole number, or an id is not a text.
        ValueError: If a measure is unknown or a parameter out of range.

    Example:
        >>> evaluator = RelevanceEvaluator({"q1": {"d7": 1, "d9": 2}}, {"map", "P_5"})
        >>> evaluator.evaluate({"q1": {"d7": 1.5, "d3": 1.0}})  # (1/1) / 2, and 1/5
        {'q1': {'map': 0.5, 'P_5': 0.2}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002  (the signature is pytrec_eval's)
    ) -> None:
        self._asked = asked(measures)
        self._level = positive_integer(relevance_level, "relevance_level")
        self._judged_only = judged_docs_only_flag
        given = {query: judged for query, judged in query_relevance.items() if judged}
        _require_whole_grades(given)
        self._qrels = as_qrels(given) if given else None

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the values of each query that is in the run and has judgments, in the order of the run.

        Args:
            scores: The score of each retrieved document: `{query: {document: score}}`.

        Raises:
            TypeError: If a ranking is not a mapping of ids to scores.
            ValueError: If a score is NaN or infinite.
        """
        if not scores or self._qrels is None:
            return {}
        for query, ranking in scores.items():
            if not hasattr(ranking, "items"):
                raise TypeError(
                    f"the ranking of query {query!r} must map documents to scores, got {type(ranking).__name__}"
                )
        columns = self._columns(scores)
        numbers = (np.nan_to_num(column).tolist() for column in columns.values())  # 0/0 is 0, which has a mean
        names, rows = list(columns), list(zip(*numbers, strict=True))
        place = self._qrels.place
        return {query: dict(zip(names, rows[place[query]], strict=True)) for query in scores if query in place}

    def _columns(self, scores: Mapping[str, Mapping[str, float]]) -> Mapping[str, Any]:
        qrels = self._qrels
        if qrels is None or not self._asked:
            return {}
        judged = judge(truth_under(qrels, TREC_EVAL), scores, "id", TREC_EVAL.order)
        refuse(judged, TREC_EVAL)
        if self._judged_only:
            condensed = judged.condensed()
            return MeasureValues(condensed, self._level, lambda: condensed).of(self._asked)
        return MeasureValues(judged, self._level, lambda: judge(qrels, scores, "id", TREC_EVAL.order)).of(self._asked)


def _require_whole_grades(judged: Mapping[str, Mapping[str, Any]]) -> None:
    for query, grades in judged.items():
        for document, grade in grades.items():
            if not isinstance(grade, int):
                raise TypeError(f"the grade of document {document!r} for query {query!r} must be an int, got {grade!r}")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the run in the lines of a TREC file: `query Q0 document rank score tag`.

    Raises:
        ValueError: If a line has another form, or a document is there twice for a query; it names the line.
    """
    return _parsed(f_run, fields=6, value_at=4, number=float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the judgments in the lines of a TREC file: `query 0 document grade`.

    Raises:
        ValueError: If a line has another form, or a document is there twice for a query; it names the line.
    """
    return _parsed(f_qrel, fields=4, value_at=3, number=int)


def _parsed(lines: Iterable[str], *, fields: int, value_at: int, number: Callable[[str], Any]) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for at, line in enumerate(lines, start=1):
        words = line.split()
        if len(words) != fields:
            raise ValueError(f"line {at} must have {fields} fields, got {len(words)}: {line.strip()!r}")
        query, document = words[0], words[2]
        if document in found.setdefault(query, {}):
            raise ValueError(f"line {at}: document {document!r} is there twice for query {query!r}")
        try:
            found[query][document] = number(words[value_at])
        except ValueError as error:
            raise ValueError(f"line {at}: {words[value_at]!r} is not a number: {line.strip()!r}") from error
    return found


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return the value of a measure for all queries: a sum (`num_...`), a geometric mean (`gm_...`) or a mean.

    Raises:
        ValueError: If there are no values and it is not a sum.
    """
    total = fsum(values)
    if measure.startswith("num_"):
        return total
    if not len(values):
        raise ValueError(f"there is no value of {measure} to take the mean of")
    mean = total / len(values)
    return exp(mean) if measure.startswith("gm_") else mean
