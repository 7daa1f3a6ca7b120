"""Evaluations are identified by their questions, rankings and rules."""

from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.score_fingerprints import (
    describe_match,
    describe_rule_differences,
    evaluation_set_fingerprint,
    rankings_fingerprint,
    rules_fingerprint,
)
from retrieval_metrics.evaluation.scores import Scores

QUESTIONS = rm.EvaluationSet({"q": "how?"}, {"q": ["d1"]})
RUN = {"q": ["d2", "d1"]}
FINGERPRINTS: tuple[Callable[[Scores], Any], ...] = (
    evaluation_set_fingerprint,
    rankings_fingerprint,
    rules_fingerprint,
)


def fingerprints(qrels: Any, run: Any, **options: Any) -> list[Any]:
    scores = rm.evaluate(qrels, run, "mrr", **options).scores
    return [identify(scores) for identify in FINGERPRINTS]


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        (fingerprints(QUESTIONS, {"q": ["d2", "d1"]}), []),
        (fingerprints(rm.EvaluationSet({"q": "why?"}, QUESTIONS.qrels), RUN), [0]),
        (fingerprints(rm.EvaluationSet(QUESTIONS.queries, {"q": {"d1": 2}}), RUN), [0]),
        (fingerprints(QUESTIONS, {"q": ["d1", "d2"]}), [1]),
        (fingerprints(QUESTIONS, RUN, rules="trec_eval"), [2]),
    ],
    ids=["the same", "another text", "another grade", "another ranking", "other rules"],
)
def test_a_fingerprint_changes_with_what_it_identifies(other: list[Any], changed: list[int]) -> None:
    fingerprints_before = fingerprints(QUESTIONS, RUN)
    differing = [index for index, (a, b) in enumerate(zip(fingerprints_before, other, strict=True)) if a != b]
    assert differing == changed


def test_rules_of_another_name_are_the_same() -> None:
    standard = rm.Rules(name="standard")
    assert describe_rule_differences(standard, rm.Rules(name="mine")) == []
    assert describe_rule_differences(standard, rm.Rules(name="mine", scores="single")) == [
        f"scores={standard.scores!r} vs 'single'"
    ]


def test_options_of_matching_are_named_where_they_are_unusual() -> None:
    items = {"q": [rm.Retrieved("d1")]}
    assert describe_match(rm.evaluate(QUESTIONS, items, "mrr", match="id").scores) == "id"
    unusual = rm.Matching(min_coverage=0.5)
    assert describe_match(rm.evaluate(QUESTIONS, items, "mrr", match=unusual).scores) == f"{unusual}, min_coverage=0.5"


def test_the_order_of_queries_changes_no_fingerprint() -> None:
    qrels = {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}
    run = {"q1": ["d1"], "q2": ["d1", "d2"], "q3": ["d3", "d1"]}
    assert fingerprints(qrels, run) == fingerprints(dict(reversed(qrels.items())), run)
    exchanged = run | {"q1": run["q3"], "q3": run["q1"]}
    assert fingerprints(qrels, run)[1] != fingerprints(qrels, exchanged)[1]
