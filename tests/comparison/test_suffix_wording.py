"""The documents that are given other grades, in words; the golden file of conclusions has every other suffix."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.suffix_wording import conclusion_suffix, format_graded_documents


@pytest.mark.parametrize(
    ("depth", "unretrieved_relevant", "text"),
    [
        (None, 0, "the unjudged retrieved documents"),
        (5, 0, "the unjudged documents in the top 5"),
        (
            5,
            1200,
            "the unjudged documents in the top 5 and up to 1,200 unretrieved relevant documents per query",
        ),
    ],
)
def test_graded_documents_are_those_within_a_depth(depth: int | None, unretrieved_relevant: int, text: str) -> None:
    assert format_graded_documents(depth, unretrieved_relevant) == text


def test_too_few_queries_bound_no_loss() -> None:
    """The sentence says that they cannot show any difference, so it does not say how large a loss may be."""
    qrels = {f"q{number}": ["d"] for number in range(3)}
    old = {query: ["x", "d"] for query in qrels}
    new = {query: ["d"] for query in qrels} | {"q1": ["x", "y", "d"]}
    (conclusion,) = rm.compare(qrels, {"old": old, "new": new}, "mrr", margin=0.1).conclusions
    assert conclusion.has_too_few_units
    assert conclusion_suffix(conclusion) == "; non-inferiority (margin 0.1) is not shown either"
