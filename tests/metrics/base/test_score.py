"""The values that a metric can have, and the ideal ranking's, which bound its confidence interval."""

import math
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import cutoffs
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.value_bounds import bounds, ideal_values


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
    judged = judge_by_id(rm.Qrels({"q": [["a", "b"], ["c"]], "r": [["a"]]}), {"q": ["x"], "r": ["x"]}, TIES_BY_ID)
    ideal = ideal_values(rm.Metric.parse("precision@5"), judged, STANDARD)
    assert ideal is not None
    assert ideal.tolist() == [3 / 5, 1 / 5]


def test_the_ideal_retrieves_nothing_below_the_threshold_of_the_metric() -> None:
    judged = judge_by_id(rm.Qrels({"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 1, "b": 3}}), {"q": ["x"]}, TIES_BY_ID)
    for name, expected in (("precision(rel=2)", [1, 1]), ("precision", [1, 1]), ("precision(rel=2)@5", [1 / 5, 1 / 5])):
        ideal = ideal_values(rm.Metric.parse(name), judged, STANDARD)
        assert ideal is not None
        assert ideal.tolist() == expected  # with b and c, precision(rel=2) of q would be 1/3


def test_no_ideal_is_known_where_one_document_may_satisfy_several_groups() -> None:
    judged = judge_by_id(rm.Qrels({"q": [["a", "b"], ["a", "c"]]}), {"q": ["x"]}, TIES_BY_ID)
    assert ideal_values(rm.Metric.parse("err"), judged, STANDARD) is None
    assert ideal_values(rm.Metric.parse("ndcg"), judged, STANDARD) is None  # it is always 1


gains_lists = st.lists(st.sampled_from([None, 0, 1, 2, 0.5]), max_size=10)
LIST_FORMS: dict[str, Callable[..., float]] = {
    "hit_rate": rm.hit_rate,
    "precision": rm.precision,
    "mrr": rm.reciprocal_rank,
    "map": rm.average_precision,
    "ndcg": rm.ndcg,
    "dcg": rm.metrics.dcg,
    "rbp": rm.metrics.rbp,
    "err": rm.metrics.err,
    "judged": rm.metrics.judged,
    "recall": rm.recall,
    "full_recall": rm.metrics.full_recall,
    "f1": rm.f1,
    "r_precision": rm.metrics.r_precision,
}
NEEDS_NUMBER = {"recall", "full_recall", "f1", "r_precision"}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("name", LIST_FORMS)
@given(gains=gains_lists, k=cutoffs, missing=st.integers(1, 3))
def test_it_equals_the_evaluation_of_the_same_ranking(
    name: str, gains: list[float | None], k: int | None, missing: int
) -> None:
    relevant = sum(gain is not None and gain > 0 for gain in gains)
    truth = {f"d{position}": gain for position, gain in enumerate(gains) if gain is not None}
    options: dict[str, Any] = {} if name == "r_precision" else {"k": k}
    if name in NEEDS_NUMBER or name == "map":
        options["n_relevant"] = relevant + missing
        truth |= {f"missing{position}": 1 for position in range(missing)}
    elif not relevant:
        truth["missing"] = 1
    value = LIST_FORMS[name](gains, **options)
    metric = rm.Metric(name, options.get("k"))
    mean = rm.evaluate({"q": truth}, {"q": [f"d{position}" for position in range(len(gains))]}, metric).means[
        str(metric)
    ]
    assert value == mean or (math.isnan(value) and math.isnan(mean))


def test_the_worked_examples() -> None:
    assert rm.average_precision([1, 0, 0, 1]) == 0.75
    assert rm.reciprocal_rank([0, 0, 1]) == 1 / 3
    assert rm.reciprocal_rank([]) == 0
    assert rm.hit_rate([0, 0]) == rm.average_precision([0, 0]) == rm.ndcg([0, 0]) == 0
    assert rm.metrics.bpref([1, None, 0, 1], n_relevant=2, n_nonrelevant=2) == 0.75


def test_the_ideal_holds_what_was_not_retrieved() -> None:
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert rm.ndcg([2, 0, 1], ideal=[1, 2, 3]) == pytest.approx((2 + 1 / 2) / ideal)
    assert rm.ndcg([3, 2], k=1, ideal=[3, 2, 1]) == 1
    assert math.isnan(rm.ndcg([0], ideal=[]))


def test_no_relevant_document_at_all_is_undefined() -> None:
    assert math.isnan(rm.average_precision([0, 0], n_relevant=0))
    assert math.isnan(rm.recall([0], n_relevant=0))
    assert math.isnan(rm.metrics.judged([]))


def test_arrays_are_lists_too() -> None:
    assert rm.ndcg(np.array([0, 1])) == rm.ndcg([0, 1])
    assert rm.precision(np.array([True, False])) == 0.5


ANYTHING: dict[str, Any] = {"str": "101", "ids": ["d1", "d2"], "float": 1.0, "dict": {1: 1}}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rm.ndcg(ANYTHING["str"]), TypeError, "gains must be a list of numbers in rank order, got str"),
        (lambda: rm.ndcg(ANYTHING["ids"]), TypeError, "got 'd1' at position 0; .* use evaluate"),
        (lambda: rm.ndcg([1, float("nan")]), ValueError, "must be finite, got nan at position 1"),
        (lambda: rm.ndcg([1], k=0), ValueError, "the cutoff k of ndcg must be a positive integer or None, got 0"),
        (lambda: rm.ndcg([1], gain="cubic"), ValueError, "parameter 'gain' of ndcg must be one of"),
        (lambda: rm.ndcg([3, 1], ideal=[1, 1]), ValueError, "the ideal lacks the gain 3"),
        (lambda: rm.ndcg([1], ideal=[None]), TypeError, "ideal must be numbers in rank order, got None"),
        (
            lambda: rm.recall([1, 1], n_relevant=1),
            ValueError,
            "holds 2 documents that are relevant, but the given total is 1",
        ),
        (lambda: rm.recall([1], n_relevant=ANYTHING["float"]), TypeError, "must be an integer, got 1.0"),
        (lambda: rm.metrics.bpref([0, 0], n_relevant=1, n_nonrelevant=1), ValueError, "2 documents that are not rel"),
        (lambda: rm.metrics.rbp([1], p=1.5), ValueError, "'p' of rbp must be a number above 0 and below 1, got 1.5"),
        (lambda: rm.metrics.err([3], max_grade=2), ValueError, "max_grade=2 is below the grade 3"),
        (lambda: rm.hit_rate(ANYTHING["dict"]), TypeError, "got dict"),
    ],
)
def test_bad_input_is_refused_with_the_received_value(
    call: Callable[[], float], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
