"""The queries that a rule set refuses."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.metrics.base.refused_queries import (
    find_refused_queries,
    has_fractional_grades,
    require_accepted_queries,
)

STRICT = rm.Rules(name="strict", duplicates="error", no_relevant="error", empty="error")
QRELS: dict[str, Any] = {"fine": {"a": 1}, "twice": {"a": 2}, "irrelevant": {"a": 0}, "empty": {"a": 0.5}}
RUN: dict[str, Any] = {"fine": ["a"], "twice": ["a", "x", "a"], "irrelevant": ["a"], "empty": []}


@pytest.fixture
def judged() -> JudgedRun:
    return judge(rm.Qrels(QRELS), RUN, "id", STRICT.order)


def test_each_rule_refuses_the_queries_that_break_it(judged: JudgedRun) -> None:
    refused = find_refused_queries(judged, STRICT)
    assert {rule: by_rule.is_refused.tolist() for rule, by_rule in refused.items()} == {
        "duplicates": [False, True, False, False],
        "no_relevant": [False, False, True, False],
        "empty": [False, False, False, True],
    }
    assert find_refused_queries(judged, rm.Rules(name="lenient")) == {}


def test_the_first_is_named_with_what_to_do(judged: JudgedRun) -> None:
    with pytest.raises(
        ValueError,
        match=r"the ranking of query 'twice' holds a document twice, which strict refuses \(duplicates=\"error\"\); "
        "remove it, or use rules='standard', where only the first counts",
    ):
        require_accepted_queries(judged, STRICT)
    require_accepted_queries(judged, rm.Rules(name="lenient"))


def test_grades_may_be_fractions(judged: JudgedRun) -> None:
    assert has_fractional_grades(judged.qrels).tolist() == [False, False, False, True]
