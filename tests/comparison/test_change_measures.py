"""What a name of a measure means."""

import pickle

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.change_measures import as_change_measure, is_change_bound
from retrieval_metrics.comparison.distinct_ranking import DistinctRanking


def test_what_has_no_bound_is_refused_by_name() -> None:
    for name in ("map", "ndcg(gain=exponential)@10", "recall(rel=2)@5", "precision", "recall@200chars", "f1@5"):
        with pytest.raises(ValueError, match="cannot be bounded without judgments"):
            as_change_measure(name)
    with pytest.raises(ValueError, match="p of rbo"):
        as_change_measure("rbo(p=.0)")
    assert as_change_measure("rbo(p=0.8)").columns == ("rbo(p=0.8)",)
    assert as_change_measure("ndcg_at_10").columns == ("max_loss(ndcg@10)", "max_gain(ndcg@10)")


def test_the_bounds_of_a_change_have_names_that_mean_one_of_them() -> None:
    first = DistinctRanking(["a", "b"], np.array([2.0, 1.0]))
    other = DistinctRanking(["b"], np.array([1.0]))
    both_bounds = as_change_measure("mrr@2")
    assert both_bounds.columns == ("max_loss(mrr@2)", "max_gain(mrr@2)")
    for column, value in zip(both_bounds.columns, both_bounds.compute(first, other), strict=True):
        alone = as_change_measure(column.replace("mrr", "MRR"))
        assert (alone.columns, alone.compute(first, other), alone.k) == ((column,), (value,), 2)
        assert is_change_bound(column)
    assert not is_change_bound("overlap@2")
    with pytest.raises(ValueError, match="the change in map cannot be bounded"):
        as_change_measure("max_loss(map)")


@pytest.mark.parametrize("name", ["overlap@2", "rbo", "rbo(p=0.8)", "ndcg@2", "max_loss(ndcg@2)"])
def test_what_changed_is_pickled(name: str) -> None:
    changes = rm.changes({"q1": ["a", "b"]}, {"q1": ["b", "c"]}, [name])
    assert pickle.loads(pickle.dumps(changes)).means == changes.means
