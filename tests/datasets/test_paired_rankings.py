"""Two runs are paired query by query, and what cannot be paired is named."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.datasets.paired_rankings import pair_rankings


def test_each_query_of_the_first_run_has_both_rankings() -> None:
    pairs = pair_rankings({"q1": ["a", "b", "a"], "q2": ["c"]}, {"q1": {"b": 0.5, "a": 0.9}, "q3": ["d"]}, "id")
    assert list(pairs) == ["q1", "q2"]
    assert (pairs["q1"].before.documents, pairs["q1"].after.documents) == (["a", "b"], ["a", "b"])
    assert pairs["q2"].after.documents == []


def test_the_first_documents_differ_by_what_they_are_and_by_their_order() -> None:
    (pair,) = pair_rankings({"q": ["a", "b", "c"]}, {"q": ["b", "a", "x"]}, "id").values()
    assert (pair.has_changed_first(2), pair.count_changed_first(2)) == (True, 0)
    assert (pair.has_changed_first(3), pair.count_changed_first(3)) == (True, 2)


@pytest.mark.parametrize(
    ("before", "after", "error", "named"),
    [
        ({}, {"q": ["a"]}, ValueError, "before"),
        ({"q": ["a"]}, ["a"], TypeError, "after"),
        ({"q": ["a"]}, {"z": ["a"]}, ValueError, "'q'.*'z'"),
        ({1: ["a"]}, {"q": ["a"]}, TypeError, "query IDs before"),
        ({"q": ["a"]}, {"q": [1]}, TypeError, "document IDs before"),
    ],
)
def test_what_cannot_be_paired_is_named(before: Any, after: Any, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        pair_rankings(before, after, "id")


def test_runs_without_a_common_document_are_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="match='source'"):
        pair_rankings({"q": ["a"]}, {"q": ["x"]}, "id")
