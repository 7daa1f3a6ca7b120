"""What is looked for, and what is said of what was retrieved only in part."""

import pytest

import retrieval_metrics as rm


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
    first, second = (rm.Retrieved(str(at), text[at : at + 45], "s", at) for at in (0, 45))
    start = text.index(quote)
    for piece in (rm.Quote(quote), rm.Text(quote), rm.Span("s", start, start + len(quote))):
        evaluation = rm.evaluate({"q": [piece]}, {"q": [first]}, ["recall", "recall@5"])
        assert evaluation.means["recall"] == 0.0
        (finding,) = evaluation.explain("q").failures
        assert (finding.kind, finding.detail) == ("not_retrieved", "not retrieved whole: rank 1 holds a part of it")
    (finding,) = rm.evaluate({"q": [rm.Quote(quote)]}, {"q": [first, second]}, "recall").explain("q").findings
    assert finding.detail == "not retrieved whole: ranks 1 and 2 hold a part of it"
    (finding,) = (
        rm.evaluate({"q": [rm.Quote(quote)]}, {"q": [rm.Retrieved("x", "Oil is dear.")]}, "recall")
        .explain("q")
        .findings
    )
    assert finding.detail == "never retrieved; the ranking has 1 document"
