"""Drawing the queries that people are to grade."""

from collections import Counter
from typing import Any

import pytest

import retrieval_metrics as rm

QUERIES: dict[Any, str] = {f"q{number}": f"question {number}?" for number in range(60)}
QUESTIONS = rm.EvaluationSet(QUERIES, {query: ["d"] for query in QUERIES})
KINDS: dict[Any, str] = dict.fromkeys(QUERIES, "common") | {f"q{number}": "rare" for number in range(6)}


def test_every_query_is_drawn_as_often() -> None:
    drawn = Counter[Any]()
    for seed in range(600):
        drawn.update(QUESTIONS.sample(15, seed=seed))
    assert set(drawn) == set(QUERIES)
    # 600 draws at 1/4: 150 -+ 10.6 (one standard deviation); 5 of these for 60 queries
    assert all(97 < count < 203 for count in drawn.values())


def test_a_larger_sample_holds_every_smaller_one_also_in_strata() -> None:
    for strata in (None, KINDS):
        for n in range(4, 60):
            assert set(QUESTIONS.sample(n, strata)) < set(QUESTIONS.sample(n + 1, strata))


def test_strata_are_drawn_in_proportion_and_at_least_twice() -> None:
    sample = QUESTIONS.sample(30, KINDS)
    assert Counter(KINDS[query] for query in sample) == {"rare": 3, "common": 27}
    assert {KINDS[query]: sample.probabilities[query] for query in sample} == {"rare": 0.5, "common": 0.5}
    small = QUESTIONS.sample(8, KINDS)
    assert Counter(KINDS[query] for query in small) == {"rare": 2, "common": 6}
    assert {KINDS[query]: small.probabilities[query] for query in small} == {"rare": 2 / 6, "common": 6 / 54}
    assert "rare           3   6" in str(sample)


def test_strata_may_be_an_entry_of_where_questions_come_from() -> None:
    provenance: dict[Any, rm.Provenance] = {query: rm.Provenance(kind=KINDS[query]) for query in QUERIES}
    questions = rm.EvaluationSet(QUERIES, {query: ["d"] for query in QUERIES}, provenance)
    assert questions.sample(30, "kind").queries == QUESTIONS.sample(30, KINDS).queries


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"n": 61}, "at most 60, the number of queries, got 61"),
        ({"n": 0}, "positive integer"),
        ({"n": 3, "strata": KINDS}, "n must be at least 4, 2 for each of 2 strata"),
        ({"n": 30, "strata": {**KINDS, "q0": "alone"}}, "stratum 'alone' has a single query, 'q0'"),
        ({"n": 30, "strata": {"q0": "x"}}, "59 queries have no stratum, for example 'q1'"),
    ],
)
def test_what_cannot_be_drawn_says_why(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        QUESTIONS.sample(**arguments)


def test_probabilities_that_are_given_are_checked() -> None:
    with pytest.raises(ValueError, match="the probability of query 'q1' must be above 0 and at most 1"):
        rm.types.Sample.from_probabilities({"q1": 0.0}, population=["q1"])
    with pytest.raises(ValueError, match="query 'q9' was drawn, but is not among the 1"):
        rm.types.Sample.from_probabilities({"q9": 0.5}, population=["q1"])
    with pytest.raises(ValueError, match="a sample has queries, each with its probability"):
        rm.types.Sample.from_probabilities({}, population=["q1"])
