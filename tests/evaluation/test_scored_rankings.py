"""The scores of rankings, and what scores above a threshold."""

import math
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from unanswerable_questions import ANSWERED, questions, run_of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": {query: ["x"] for query in questions(30)}}, "the ranking of query 'a0' has no scores"),
        (
            {"run": {q: [rm.Retrieved("a", score=0.1), rm.Retrieved("b", score=0.9)] for q in questions(30)}},
            "as distances do",
        ),
        ({"run": ANSWERED}, "the run has results for none of the 30"),
        ({"metric": "leak@5"}, "leak@5 does not show what a threshold costs"),
        ({"max_false_answers": 0}, "max_false_answers must be above 0 and below 1, got 0"),
        ({"level": 0.5}, "level must be above 0.5 and below 1, got 0.5"),
        ({"run": {**run_of([0.1] * 30), "a0": {"d0": math.nan}}}, "the score of document 'd0' for query 'a0' is nan"),
    ],
)
def test_what_cannot_be_cut_is_refused(change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"run": run_of([0.1] * 30)} | change
    with pytest.raises(ValueError, match=message):
        rm.threshold(questions(30), **options)


def test_items_and_columns_are_cut_like_mappings() -> None:
    best = np.linspace(0.1, 0.7, 60)
    listed = {
        query: [rm.Retrieved(document, score=score) for document, score in ranking.items()]
        for query, ranking in run_of(best).items()
    }
    plain = rm.threshold(questions(60), run_of(best))
    items = rm.threshold(questions(60), listed)
    assert plain == items
    assert {query: [item.id for item in ranking_kept] for query, ranking_kept in items.apply(listed).items()} == {
        query: list(ranking_kept) for query, ranking_kept in plain.apply(run_of(best)).items()
    }
