"""Systems are saved with one copy of their judgments only where these are the very same in everything."""

import dataclasses
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.keeping.saved import same_questions

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

QRELS: dict[str, Any] = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["a", "b"], "q2": ["c"]}


def scores(questions: Any) -> Any:
    return rm.evaluate(questions, RUN, "ndcg").scores


def asked(text: str = "where?", **provenance: Any) -> rm.EvaluationSet:
    origin: dict[str | int, rm.Provenance] = {"q1": rm.Provenance(**provenance)} if provenance else {}
    return rm.EvaluationSet({"q1": text, "q2": "when?"}, QRELS, origin)


def test_equal_judgments_read_twice_are_the_same() -> None:
    assert same_questions(scores(QRELS), scores({query: dict(held) for query, held in QRELS.items()}))
    assert same_questions(scores(asked()), scores(asked()))


@pytest.mark.parametrize(
    "other",
    [
        {"q1": {"a": 2, "b": 1}, "q3": {"c": 1}},
        {"q1": {"a": 2, "x": 1}, "q2": {"c": 1}},
        {"q1": {"a": 2}, "q2": {"b": 1, "c": 1}},
        {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}},
        {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}},
        {"q1": [{"a": 2, "b": 1}], "q2": {"c": 1}},
    ],
    ids=["query", "document", "whose document", "grade", "largest grade", "group"],
)
def test_judgments_that_differ_in_one_thing_are_not(other: Any) -> None:
    assert not same_questions(scores(QRELS), scores(other))
    assert not same_questions(scores(other), scores(QRELS))


def test_parts_of_sets_with_other_largest_grades_are_not() -> None:
    qrels = rm.Qrels(QRELS)
    assert not same_questions(scores(qrels), scores(qrels.with_largest_grade(5)))


@pytest.mark.parametrize("other", [asked("why?"), asked(source="a.md")], ids=["text", "provenance"])
def test_nor_are_questions_that_differ_in_what_came_with_them(other: rm.EvaluationSet) -> None:
    assert not same_questions(scores(asked()), scores(other))


def test_values_without_their_rankings_share_nothing() -> None:
    of_elsewhere = dataclasses.replace(scores(QRELS), origin=None)
    assert not same_questions(of_elsewhere, scores(QRELS))
    assert not same_questions(scores(QRELS), of_elsewhere)
