"""Queries without results are counted and warned of, unless nothing is relevant to them."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds

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
