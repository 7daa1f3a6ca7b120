"""The documents that are given other grades, in words; the golden file of conclusions has every other suffix."""

import pytest

from retrieval_metrics.comparison.suffix_wording import format_graded_documents


@pytest.mark.parametrize(
    ("depth", "unretrieved_relevant", "text"),
    [
        (None, 0, "the unjudged retrieved documents"),
        (5, 0, "the unjudged documents in the top 5"),
        (
            5,
            1200,
            "the unjudged documents in the top 5 and of up to 1,200 unretrieved relevant documents per query",
        ),
    ],
)
def test_graded_documents_are_those_within_a_depth(depth: int | None, unretrieved_relevant: int, text: str) -> None:
    assert format_graded_documents(depth, unretrieved_relevant) == text
