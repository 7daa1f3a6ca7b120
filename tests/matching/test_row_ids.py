"""Ids in a single ranking that would be judged but for a blank or a control character are refused, and no others."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.row_scorer import RowScorer


def score_row(relevant: Any, retrieved: Any) -> float:
    scores = RowScorer("mrr").row(relevant, lambda: retrieved)
    return next(iter(scores.values())).value


def evaluate_row(relevant: Any, retrieved: Any) -> float:
    return rm.evaluate_ranking(relevant, retrieved, "mrr")["mrr"]


FORMS: Any = {
    "list": lambda ids: ids,
    "scores": lambda ids: {document: -float(rank) for rank, document in enumerate(ids)},
    "items": lambda ids: [rm.Retrieved(document) for document in ids],
}


@pytest.mark.parametrize("score", [score_row, evaluate_row])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ("d1 ", "begins or ends with whitespace; write 'd1'"),
        ("\td1", "begins or ends with whitespace; write 'd1'"),
        ("d\x001", "holds the control character"),
        ("['d1', 'd2']", "is a list that was written as text"),
    ],
)
def test_an_id_that_would_be_judged_is_refused(score: Any, form: str, document: str, fault: str) -> None:
    with pytest.raises(ValueError, match=r"document .* in the ranking") as caught:
        score(["d1", "d9"], FORMS[form](["x", document]))
    assert fault in str(caught.value)


@pytest.mark.parametrize("score", [score_row, evaluate_row])
def test_other_ids_are_scored(score: Any) -> None:
    assert score(["d1"], ["x ", "d1"]) == 0.5
    assert score(["d1", "d2"], ["x ", "d1"]) == 0.5
    assert score(["d1", "d2"], ["x"]) == 0.0
    assert score([1, 2], [3, 2]) == 0.5
    assert score([rm.Quote("two words")], [rm.Retrieved("d ", "one"), rm.Retrieved("d", "two words")]) == 0.5
