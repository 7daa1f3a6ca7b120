"""What is looked for, and what is said of what was retrieved only in part."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_wording import format_outcome, format_partial_match
from retrieval_metrics.evaluation.outcome_facts import OutcomeFacts


def test_metrics_of_the_first_relevant_document_need_only_one() -> None:
    evaluation = rm.evaluate({"q": ["a", "b"]}, {"q": ["a", "x"]}, ["mrr@2", "recall@2"])
    assert evaluation.worst("mrr@2").failures == {}
    assert evaluation.worst("recall@2").failures == {"not_retrieved": 1}


def test_without_a_metric_the_largest_cut_off_counts() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["x", "y", "d"]}, ["ndcg@2", "mrr@3", "map"])
    explanation = evaluation.explain("q")
    assert explanation.findings[0].kind == "found"
    assert list(explanation.values) == ["ndcg@2", "mrr@3", "map"]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_what_was_retrieved_only_in_part_says_so() -> None:
    """A chunk boundary cut the quote; a text or a span is covered too little."""
    text = "It is known that the horn sounds for five seconds in each minute of dense fog, and no longer."
    quote = "the horn sounds for five seconds in each minute of dense fog"
    first = rm.Retrieved("first", text[:45], "s", 0)
    second = rm.Retrieved("second", text[45:90], "s", 45)
    start = text.index(quote)
    for piece in (rm.Quote(quote), rm.Text(quote), rm.Span("s", start, start + len(quote))):
        evaluation = rm.evaluate({"q": [piece]}, {"q": [first]}, ["recall", "recall@5"])
        assert evaluation.means["recall"] == 0.0
        (finding,) = evaluation.explain("q").failures
        assert (finding.kind, finding.detail) == ("not_retrieved", format_partial_match([1]))
    (finding,) = rm.evaluate({"q": [rm.Quote(quote)]}, {"q": [first, second]}, "recall").explain("q").findings
    assert finding.detail == format_partial_match([1, 2])
    other = rm.Retrieved("x", "Oil is dear.")
    (finding,) = rm.evaluate({"q": [rm.Quote(quote)]}, {"q": [other]}, "recall").explain("q").findings
    assert finding.detail == format_outcome(OutcomeFacts(kind="not_retrieved", n_retrieved=1))
