"""Judged quotes: which items satisfy them, and how their rows count."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved

FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str | None = None, **values: Any) -> Retrieved:
    return Retrieved(f"c{number}", text, **values)


def means(judgments: Any, ranking: Any, metrics: list[str], **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, **options).means)


class TestQuotes:
    def test_an_item_that_holds_two_gives_two_hit_rows_and_counts_once_in_precision(self) -> None:
        ranking = [item(1, FACT + " It is entered and exited."), item(2, "other")]
        judgments = {Quote(FACT): 1, Quote("entered and exited"): 2, Quote("nowhere to be seen"): 1}
        result = means(judgments, ranking, ["recall@1", "map", "precision@2", "ndcg@2"])
        assert result["recall@1"] == pytest.approx(2 / 3)
        assert result["map"] == pytest.approx((1 + 1) / 3)
        assert result["precision@2"] == 1 / 2
        assert result["ndcg@2"] == 1  # rows 2, 1 are the first two of the ideal 2, 1, 1

    def test_a_second_item_with_the_same_quote_is_relevant_and_a_miss_row(self) -> None:
        ranking = [item(1, FACT), item(2, FACT), item(3, "It is entered and exited.")]
        result = means([Quote(FACT), Quote("entered and exited")], ranking, ["precision", "map"])
        assert result["precision"] == 1
        assert result["map"] == pytest.approx((1 + 2 / 3) / 2)

    def test_alternatives_and_needs(self) -> None:
        judgments = [[Quote("nowhere to be seen"), "c2"], [Quote(FACT)]]
        assert means(judgments, [item(1, FACT), item(2, "other")], ["full_recall@1", "full_recall@2"]) == {
            "full_recall@1": 0,
            "full_recall@2": 1,
        }

    def test_of_two_alternatives_in_one_item_the_higher_grade_counts(self) -> None:
        judgments = [{Quote(FACT): 1, Quote("wraps the execution"): 3}]
        assert means(judgments, [item(1, FACT)], ["dcg"]) == {"dcg": 3}

    def test_one_judged_not_relevant_is_judged(self) -> None:
        result = means({Quote(FACT): 0, Quote("entered and exited"): 1}, [item(1, FACT)], ["judged", "precision"])
        assert result == {"judged": 1, "precision": 0}

    def test_short_ones_are_refused_by_name(self) -> None:
        with pytest.raises(ValueError, match="the quote '16 bytes' for query 'q' has 7 characters"):
            means([Quote("16 bytes")], [item(1, FACT)], ["mrr"])
        assert means(
            [Quote("16 bytes")], [item(1, "takes 16\nbytes.")], ["mrr"], match=rm.Matching(min_quote_length=7)
        ) == {"mrr": 1}


def test_another_passage_under_an_id_is_no_repeat_for_what_is_looked_for_in_texts() -> None:
    ranking = [Retrieved("d1", "another passage"), Retrieved("d1", FACT), Retrieved("d1", FACT)]
    result = rm.evaluate({"q": [Quote(FACT)]}, {"q": ranking}, ["mrr", "precision"])
    assert dict(result.means) == {"mrr": 1 / 2, "precision": 1 / 3}
    assert result.counts["duplicates"] == 1
    assert rm.evaluate({"q": ["d1"]}, {"q": ranking}, "precision").means["precision"] == 1 / 3
