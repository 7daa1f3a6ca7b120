"""Fingerprints of questions and source texts for tests against saved evaluations."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.integration_api.pytest_support import evaluation_set_fingerprint, with_source_texts

TEXTS = {"q1": "why?", "q2": "how?"}
QRELS = {"q1": {"d1": 2}, "q2": {"d2": 1}}


def fingerprint(qrels: dict[str, dict[str, int]], texts: dict[str, str] | None, metric: str = "mrr") -> str:
    questions = qrels if texts is None else rm.EvaluationSet(texts, qrels)
    return evaluation_set_fingerprint(rm.evaluate(questions, {query: ["d1", "d2"] for query in qrels}, metric).scores)


def test_the_same_questions_are_the_same_in_any_order_and_whatever_is_computed_of_them() -> None:
    turned = dict(reversed(QRELS.items()))
    assert fingerprint(QRELS, TEXTS) == fingerprint(turned, TEXTS) == fingerprint(QRELS, TEXTS, "ndcg@1")


@pytest.mark.parametrize(
    ("qrels", "texts"),
    [
        ({**QRELS, "q2": {"d2": 2}}, TEXTS),
        ({**QRELS, "q2": {"d2": 1, "d9": 0}}, TEXTS),
        ({"q1": QRELS["q1"]}, {"q1": "why?"}),
        (QRELS, {**TEXTS, "q2": "how so?"}),
        (QRELS, None),
    ],
    ids=["a grade", "a judgment", "a question less", "a text", "no texts"],
)
def test_questions_that_differ_in_anything_are_others(qrels: dict[str, dict[str, int]], texts: dict[str, str]) -> None:
    assert fingerprint(qrels, texts) != fingerprint(QRELS, TEXTS)


def test_documents_are_read_only_where_a_span_is_judged() -> None:
    by_id = rm.Qrels({"q": ["d"]})
    by_span = rm.Qrels({"q": [rm.Span("a.md", 0, 5)]})
    assert with_source_texts("id", None, by_id) == "id"
    assert with_source_texts("source", None, by_span) == "source"
    match = with_source_texts("id", {"a.md": "Slots save memory."}, by_span)
    run = {"q": [rm.Retrieved("c", "Slots", "a.md", 7, offsets_unverified=True)]}  # its offset is wrong
    assert rm.evaluate(by_span, run, "recall", match=match).means["recall"] == 1
    with pytest.raises(ValueError, match=r"documents= has no text of 'a\.md'"):
        with_source_texts("id", {"b.md": "Slots save memory."}, by_span)
