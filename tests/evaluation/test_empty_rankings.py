"""Queries without results are counted and warned of, unless nothing is relevant to them."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds
from retrieval_metrics.evaluation.empty_rankings import find_empty_rankings

QRELS: Any = {"answerable": ["a"], "missed": ["b"], "silent": [], "judged 0": {"z": 0}}


def test_an_empty_ranking_is_right_where_nothing_is_relevant() -> None:
    run: Any = {"answerable": ["a"], "missed": [], "silent": [], "judged 0": []}
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 answerable .*'missed'"):
        result = rm.evaluate(QRELS, run, "mrr")
    assert (result.counts["missing"], result.counts["no_relevant"]) == (1, 2)
    assert find_kinds(QRELS, run) == ["empty_rankings"]
    assert find_kinds(QRELS, run | {"missed": ["b"]}) == []


def test_a_failure_is_counted_whatever_was_to_be_found() -> None:
    run = rm.RetrievedRun({"answerable": ["a"], "missed": ["b"], "silent": []}, {"silent": TimeoutError("slow")})
    with pytest.warns(rm.RetrievalWarning, match="1 of 3 answerable .*'silent': TimeoutError: slow"):
        counts = rm.evaluate(QRELS, run, "mrr").counts
    assert (counts["missing"], counts["failed"]) == (1, 1)


def test_where_lower_is_better_an_unanswered_query_is_excluded_and_an_empty_ranking_scores_zero() -> None:
    qrels: Any = {f"q{number}": {"a": 1, "bad": -1} for number in range(3)}
    rankings: Any = {"q0": ["bad"], "q1": [], "q2": []}
    failing = rm.RetrievedRun(rankings, {"q2": TimeoutError("slow")})
    failing_alone = rm.RetrievedRun(rankings | {"q1": ["a"]}, {"q2": TimeoutError("slow")})
    cases: list[tuple[Any, Any, Any]] = [
        ("mrr", failing, "zero"),
        (["mrr", "leak@3"], failing, "zero_if_higher_is_better"),
        (["mrr", "leak@3"], rankings, "zero"),
        ("leak@3", rankings, "zero"),
        ("leak@3", failing, None),
        ("leak@3", failing_alone, "excluded"),
        ("leak@3", {"q0": ["bad"], "q1": ["a"]}, "excluded"),
    ]
    for metrics, run, treatment in cases:
        with pytest.warns(rm.RetrievalWarning):
            evaluation = rm.evaluate(qrels, run, metrics)
        empty = find_empty_rankings(evaluation.scores)
        assert empty is not None
        assert empty.treatment == treatment
        values = evaluation.scores.values
        if treatment == "excluded":
            assert np.isnan(values).any()
        if treatment == "zero":
            assert not np.isnan(values).any()
