"""The exact sums of an evaluation: sent to other processes, and what they refuse."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm


def test_totals_survive_pickling() -> None:
    totals = rm.evaluate({"q1": ["a", "b"], "q2": ["c"]}, {"q1": ["b", "x"], "q2": ["x", "c"]}, ["map", "mrr"]).totals()
    merged = rm.merge([pickle.loads(pickle.dumps(totals))])
    assert merged.means == rm.merge([totals]).means == {"map": 0.5, "mrr": 0.75}


@pytest.mark.parametrize(
    "read",
    [
        lambda merged: merged.queries,
        lambda merged: merged.values,
        lambda merged: merged.per_query,
        lambda merged: merged.to_pandas(),
        lambda merged: merged.explain("q1"),
        lambda merged: merged.worst("mrr"),
        lambda merged: merged.group_by({"q1": "x"}),
    ],
)
def test_totals_alone_refuse_what_needs_single_queries(read: Callable[[rm.Evaluation], Any]) -> None:
    merged = rm.merge([rm.evaluate({"q1": ["a"]}, {"q1": ["a"]}, "mrr").totals()])
    with pytest.raises(ValueError, match=r"merged from totals"):
        read(merged)
    assert repr(merged) == "<Evaluation of 1 query: mrr 1.000>"
