"""The results of the matching rules are collected in columns."""

from typing import Any

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics import Quote, Span, Text
from retrieval_metrics.matching.piece_hits import PieceHits, pieces_by_query
from retrieval_metrics.matching.span_offsets import ItemLocation

JUDGMENTS: dict[str, Any] = {
    "q1": {Text("some words"): 1, Quote("a quotation"): 2},
    "q2": {Span("s", 0, 10): 3},
}
QRELS = rm.Qrels(JUDGMENTS)


def test_pieces_are_listed_by_query_and_position() -> None:
    assert pieces_by_query(QRELS, Span) == {1: {2: Span("s", 0, 10)}}
    assert pieces_by_query(QRELS, (Text, Quote)) == {0: {0: Text("some words"), 1: Quote("a quotation")}}


def test_a_piece_is_satisfied_by_the_item_that_covers_exactly_the_share() -> None:
    hits = PieceHits(QRELS)
    hits.size[2] = 10
    hits.add_coverage(2, 1, 0, 7, 0.8)
    hits.add_coverage(2, 2, 7, 7, 0.8)
    hits.add_coverage(2, 3, 7, 8, 0.8)
    hits.add_coverage(2, 4, 8, 10, 0.8)
    assert hits.items().rank.tolist() == [3]
    assert [column.tolist() for column in hits.covered_columns()] == [[2, 2, 2], [1, 3, 4], [7, 1, 2]]
    new_coverage = hits.find_new_coverage()
    assert new_coverage is not None
    assert new_coverage.rank.tolist() == [1, 3, 4]
    assert new_coverage.completed.tolist() == [-np.inf, 3, -np.inf]


def test_at_one_rank_the_highest_grade_comes_first_and_each_rank_is_listed_once() -> None:
    hits = PieceHits(QRELS)
    for piece in (0, 1):
        hits.add_satisfied(piece, 1)
        hits.add_overlapping(piece, 1)
    assert hits.items().document.tolist() == [1, 0]
    assert [column.tolist() for column in hits.ranks()] == [[0], [1], [2.0], [1.0]]
    assert hits.find_new_coverage() is None


def test_the_first_item_without_a_location_is_kept() -> None:
    hits = PieceHits(QRELS)
    location = ItemLocation("s", ((0, 5),))
    hits.add_location(1, 1, location)
    hits.add_location(1, 2, None)
    hits.add_location(1, 3, None)
    assert hits.positions[1].locations == [location]
    assert hits.positions[1].first_unlocated == 2
