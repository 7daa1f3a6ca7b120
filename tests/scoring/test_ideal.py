"""The values that a metric can have, and the ideal ranking's, which bound its confidence interval."""

from math import inf, nan

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.by_id import judge_by_id
from retrieval_metrics.judging.ranking_order import BY_ID
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import bounds, ideal_values


@pytest.mark.parametrize(
    ("name", "smallest", "largest", "ideal", "expected"),
    [
        ("ndcg", 0.2, 0.9, None, (0, 1)),
        ("ndcg", nan, nan, None, (0, 1)),
        ("dcg", 0.2, 0.9, None, (0, inf)),
        ("dcg", 0.2, 3.5, None, (0, inf)),
        ("precision@5", 0.0, 0.2, 0.4, (0, 0.4)),
        ("precision@5", 0.0, 0.6, 0.4, (0, 0.6)),
        ("precision@5", 0.0, 0.0, 0.0, (0, 1)),
        ("ndcg", 0.0, 1.5, None, (0, inf)),
        ("ndcg", -0.5, 0.5, None, (-inf, inf)),
    ],
)
def test_bounds(name: str, smallest: float, largest: float, ideal: float | None, expected: tuple[float, float]) -> None:
    assert bounds(rm.Metric.parse(name), smallest, largest, ideal) == expected


def test_the_ideal_of_precision_counts_the_documents_also_of_groups() -> None:
    judged = judge_by_id(Qrels({"q": [["a", "b"], ["c"]], "r": [["a"]]}), {"q": ["x"], "r": ["x"]}, BY_ID)
    found = ideal_values(rm.Metric.parse("precision@5"), judged, STANDARD)
    assert found is not None
    assert found.tolist() == [3 / 5, 1 / 5]


def test_the_ideal_retrieves_nothing_below_the_threshold_of_the_metric() -> None:
    judged = judge_by_id(Qrels({"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 1, "b": 3}}), {"q": ["x"]}, BY_ID)
    for name, expected in (("precision(rel=2)", [1, 1]), ("precision", [1, 1]), ("precision(rel=2)@5", [1 / 5, 1 / 5])):
        found = ideal_values(rm.Metric.parse(name), judged, STANDARD)
        assert found is not None
        assert found.tolist() == expected  # with b and c, precision(rel=2) of q would be 1/3


def test_no_ideal_is_known_where_one_document_may_satisfy_several_groups() -> None:
    judged = judge_by_id(Qrels({"q": [["a", "b"], ["a", "c"]]}), {"q": ["x"]}, BY_ID)
    assert ideal_values(rm.Metric.parse("err"), judged, STANDARD) is None
    assert ideal_values(rm.Metric.parse("ndcg"), judged, STANDARD) is None  # it is always 1
