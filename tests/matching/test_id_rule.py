"""Ids that are judged alongside pieces are matched by the ids of items."""

from typing import Any

import pytest
from hypothesis import given

import retrieval_metrics as rm
from generated import cutoffs, rankings, truths
from retrieval_metrics import Quote, Retrieved

METRICS = ("hit_rate", "full_recall", "recall", "precision", "mrr", "map", "ndcg", "rbp", "judged")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@given(judgments=truths, ranking=rankings, k=cutoffs)
def test_beside_a_piece_nobody_holds_they_score_as_beside_an_id_nobody_retrieved(
    judgments: list[dict[str, float]], ranking: list[str], k: int | None
) -> None:
    metrics = [rm.Metric(name, k) for name in METRICS]
    items = [Retrieved(document, "any text") for document in ranking]
    beside: list[Any] = [*judgments, {Quote("in none of the items"): 1}]
    expected = rm.evaluate({"q": [*judgments, {"never": 1.0}]}, {"q": ranking}, metrics).means
    result = rm.evaluate({"q": beside}, {"q": items}, metrics).means
    assert dict(result) == pytest.approx(dict(expected), nan_ok=True, abs=1e-15)


def test_each_id_is_satisfied_at_the_first_item_that_has_it() -> None:
    items = [Retrieved("a", "one text"), Retrieved("b", "a text"), Retrieved("b", "another passage of b")]
    judgments: list[Any] = ["b", Quote("in none of the items")]
    matches = rm.match({"q": judgments}, {"q": items})
    assert [match.rank for match in matches] == [2, None]


def test_ids_of_another_type_are_refused() -> None:
    judgments: list[Any] = [3, Quote("some words of a text")]
    with pytest.raises(TypeError, match="are int and those in the run are str"):
        rm.evaluate({"q": judgments}, {"q": [Retrieved("x", "some words of a text")]})
