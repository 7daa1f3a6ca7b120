"""The columns of a judged run are ordered, cut and selected."""

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.matching.judged_columns import NO_DUPLICATES, Credits, Duplicates, Hits, Items, NewCoverage

QRELS = rm.Qrels({"q1": {"a": 1, "b": 2}, "q2": {"c": 3}})


def test_items_are_ordered_by_query_and_rank() -> None:
    items = Items.ordered(QRELS, document=np.array([2, 1, 0]), rank=np.array([4, 3, 1]))
    assert items.document.tolist() == [0, 1, 2]
    assert items.query.tolist() == [0, 0, 1]
    assert items.rank.tolist() == items.tied_from.tolist() == [1, 3, 4]
    assert items.grade.tolist() == [1, 2, 3]
    assert items.tied.tolist() == [1, 1, 1]


def test_an_item_that_completes_a_piece_is_not_partial() -> None:
    coverage = NewCoverage(
        query=np.array([0, 0, 1]),
        rank=np.array([1, 2, 1]),
        grade=np.array([1.0, 1.0, 0.0]),
        completed=np.array([-np.inf, 1.0, -np.inf]),
    )
    query, rank = coverage.partial(None)
    assert (query.tolist(), rank.tolist()) == ([0], [1])


def test_only_some_duplicates_are_judged() -> None:
    duplicates = Duplicates(np.array([0, 0]), np.array([2, 3]), np.array([-1, 1]))
    assert [column.tolist() for column in duplicates.judged()] == [[0], [3], [1]]
    assert [len(column) for column in NO_DUPLICATES.judged()] == [0, 0, 0]


def test_rows_are_taken_in_the_given_order_and_cut_by_item_and_row() -> None:
    credited = Credits(np.array([0, 1]), np.array([5, 6]), np.array([1.0, 2.0]))
    assert [column.tolist() for column in credited.take(np.array([1, 0]))] == [[1, 0], [6, 5], [2.0, 1.0]]
    hits = Hits(np.array([0, 0]), np.array([1, 1]), np.array([1, 2]), np.array([2.0, 1.0]), np.array([1, 2]))
    assert hits.cut(None) is hits
    assert hits.cut(1).row.tolist() == [1]
    assert hits.cut(np.array([1])).row.tolist() == [1, 2]
