"""A ranking is compared with each document once."""

import numpy as np
import pytest

import retrieval_metrics as rm
from distinct_rankings import as_distinct
from retrieval_metrics.comparison.distinct_ranking import make_distinct_ranking
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings


def test_a_list_keeps_its_order_and_the_first_of_duplicates() -> None:
    ranking = as_distinct(["b", "a", "b"])
    assert list(ranking.documents) == ["b", "a"]
    assert (np.diff(ranking.scores) < 0).all()


def test_a_scored_ranking_keeps_its_scores() -> None:
    ranking = as_distinct({"a": 1.0, "b": 2.0})
    assert list(ranking.documents) == ["b", "a"]
    assert ranking.scores.tolist() == [2.0, 1.0]


def test_an_item_without_a_value_to_match_is_refused() -> None:
    rankings = OrderedRankings({}, "source", TIES_BY_ID)
    with pytest.raises(ValueError, match="'q1' has no value for match='source'"):
        make_distinct_ranking(rankings, [rm.Retrieved("d1")], "q1")


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'b'.*nan"):
        as_distinct({"a": 1.0, "b": float("nan")})
