"""Rows of hosts, each a query: one evaluation of all, without those that cannot be judged."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.adapting import RowScorer, Scorer

QRELS: dict[str, Any] = {"a": {"d1": 1}, "b": {"d1": 3}, "c": ["d2"]}


def test_what_is_refused_alone_is_left_out_with_the_reason_and_the_scale_stays_that_of_all() -> None:
    run = rm.RetrievedRun({"a": ["x", "d1"], "b": [7], "c": []}, {"c": KeyError("c")})
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 1 of 2"):
        evaluation, refused = Scorer(["err", "mrr"]).evaluation(QRELS, run)
    assert {query: type(error) for query, error in refused.items()} == {"b": TypeError}
    assert evaluation.per_query["mrr"] == {"a": 0.5, "c": 0.0}
    assert evaluation.per_query["err"]["a"] == 1 / 8 / 2  # (2 ** 1 - 1) / 2 ** 3, at rank 2
    assert evaluation.counts["failed"] == 1


def test_what_is_no_single_row_is_raised_as_are_rows_that_are_all_refused() -> None:
    mixed: dict[str, Any] = {"a": ["d1"], "b": [2]}
    with pytest.raises(TypeError, match="partly str and partly int"):
        Scorer("mrr").evaluation(mixed, rm.RetrievedRun({"a": ["d1"], "b": [2]}))
    with pytest.raises(TypeError, match="the run are int"):
        Scorer("mrr").evaluation({"a": ["d1"]}, rm.RetrievedRun({"a": [1]}))


def test_a_row_for_which_nothing_was_retrieved_is_0_under_every_budget() -> None:
    metrics = ["recall@200chars", "recall@50tokens", "recall@2calls"]
    for failure in (None, "the application failed"):
        scores = RowScorer(metrics).row(["d1"], list, failure=failure)
        assert [score.value for score in scores.values()] == [0.0, 0.0, 0.0]
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 2 of 2"):
        whole = rm.evaluate({"a": ["d1"], "b": ["d2"]}, {"a": [], "b": []}, metrics)
    assert whole.means == dict.fromkeys(metrics, 0.0)
    with pytest.raises(ValueError, match="the rankings hold only ids"):
        RowScorer(metrics).row(["d1"], lambda: ["d1"])


@pytest.mark.parametrize("wrong", ["3", True, -1, 0, float("nan")])
def test_a_largest_grade_that_cannot_be_one_is_refused_before_any_row(wrong: Any) -> None:
    for make in (Scorer, RowScorer):
        with pytest.raises((TypeError, ValueError), match="max_grade must be"):
            make("err", max_grade=wrong)
