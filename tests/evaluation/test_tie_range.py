"""The range of the means over all orders of equal scores."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.tie_range import TieRange

QRELS = {"q1": ["a"], "q2": ["a"], "q3": []}
RUN = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 2.0, "x": 1.0}, "q3": {"a": 1.0, "x": 1.0}}


def test_it_counts_the_queries_whose_value_depends_on_the_order() -> None:
    result = rm.evaluate(QRELS, RUN, ["mrr", "recall@2"], ties="expected")
    expected = TieRange({"mrr": (0.75, 1.0), "recall@2": (1.0, 1.0)}, {"mrr": 1, "recall@2": 0})
    assert result.tie_range == expected
    assert len(expected.notes()) == 1


def test_other_tie_rules_have_none() -> None:
    result = rm.evaluate(QRELS, RUN, "mrr")
    assert TieRange.from_record(result.scores) is None
    assert TieRange.from_record(result.totals()) is None
