"""Rows gathered for one pass: their names, their texts, and judgments that cannot be read."""

from typing import Any

import pytest

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    evaluate_dataset,
    to_evaluation,
)
from ragas_rows import evaluate_with_ragas

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


SENTENCES = {
    "try": "A try statement specifies exception handlers and cleanup code for a group of statements.",
    "with": "The with statement is used to wrap the execution of a block with methods defined by a context manager.",
}


def test_texts_of_the_rows_are_shown() -> None:
    rows = [
        {
            "user_input": "how do I clean up?",
            "retrieved_context_ids": ["w", "t"],
            "retrieved_contexts": [SENTENCES["with"], SENTENCES["try"]],
            "reference_context_ids": ["t"],
        }
    ]
    explained = str(evaluate_dataset(rows, "mrr").explain("how do I clean up?"))
    assert "The with statement is used" in explained
    assert "A try statement specifies" in explained


BAD_ROWS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "an empty reference": (
        [
            {"user_input": "x", "retrieved_contexts": ["a text"], "reference_contexts": [""]},
            {"user_input": "y", "retrieved_contexts": ["a text"], "reference_contexts": ["a text"]},
        ],
        {"by": "texts"},
        "row 'x' cannot be judged: a Text needs a text, got ''",
    ),
    "ids of another type than in other rows": (
        [
            {"user_input": "numbers", "retrieved_context_ids": [1, 2], "reference_context_ids": [2]},
            {"user_input": "more", "retrieved_context_ids": [2], "reference_context_ids": [2]},
            {"user_input": "texts", "retrieved_context_ids": ["a"], "reference_context_ids": ["a"]},
        ],
        {},
        "row 'texts' cannot be judged: document IDs in the .* are partly str and partly int",
    ),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_row_without_readable_judgments_is_named_on_both_ways(kind: str) -> None:
    rows, options, message = BAD_ROWS[kind]
    with pytest.raises(ValueError, match=message):
        evaluate_dataset(rows, ["mrr"], **options)
    with pytest.raises(ValueError, match=message):
        to_evaluation(evaluate_with_ragas(rows, [MRR(**options)]))


def test_the_same_question_twice_stays_two_rows() -> None:
    rows: list[dict[str, Any]] = [{"user_input": "same", "mrr": 1.0}, {"user_input": "same", "mrr": 0.0}, {"mrr": 0.5}]
    evaluation = to_evaluation(rows)
    assert evaluation.per_query["mrr"] == {"same": 1.0, "same (2)": 0.0, "row 3": 0.5}
    dataset = [{"user_input": "same"}, {"user_input": "same"}, {"user_input": "same"}]
    with (
        pytest.warns(rm.RetrievalWarning, match="1 of 3 rows"),
        pytest.warns(rm.RetrievalWarning, match="are ambiguous"),
    ):
        again = to_evaluation(rows[:2], dataset)
    assert again.per_query["mrr"] == {"same": 1.0, "same (2)": 0.0, "same (3)": 0.0}
