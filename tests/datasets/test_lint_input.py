"""What a lint looks at: words, grades and texts of what is judged, as far as they are known."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.lint_input import LintInput

QRELS = rm.Qrels({"q1": {"a": 2, "b": 0}, "q2": {"c": -1}})
SUBJECT = LintInput({"q1": "Who opens the vault?"}, QRELS, CorpusIndex.from_corpus({"a": "The officer."}))


def test_only_questions_with_a_text_have_words() -> None:
    assert SUBJECT.queries == ["q1"]
    assert SUBJECT.words == {"q1": ["who", "opens", "the", "vault"]}
    assert SUBJECT.content == {"q1": ["open", "vault"]}


def test_relevant_is_what_has_a_grade_above_zero() -> None:
    assert SUBJECT.relevant == {"q1": {"a": 2}, "q2": {}}
    assert SUBJECT.n_with_relevant == 1


@pytest.mark.parametrize(
    ("judged", "text"),
    [
        ("a", "The officer."),
        ("b", None),
        (rm.Quote("an officer"), "an officer"),
        (rm.Span("a", 4, 11), "officer"),
        (rm.Span("a", 4, 13), None),
        (rm.Span("b", 0, 1), None),
        (("a", "b"), None),
    ],
)
def test_the_text_of_what_is_judged(judged: Any, text: str | None) -> None:
    assert SUBJECT.text_of(judged) == text


def test_without_a_corpus_only_quotes_have_a_text() -> None:
    subject = LintInput({}, QRELS)
    assert subject.text_of("a") is None
    assert subject.text_of(rm.Quote("an officer")) == "an officer"


def test_metrics_are_computed_for_each_run() -> None:
    subject = LintInput({}, QRELS, runs={"bm25": {"q1": ["b", "a"], "q2": []}})
    values = subject.values(rm.Metric("mrr"))["bm25"]
    assert values[0] == 0.5
