"""The bounds that a test may set, and those that are refused."""

import math
from typing import Any

import pytest

from pytest_retrieval_metrics import RetrievalCheck

QRELS = {"what does yield do?": ["yield#1"], "what is a closure?": ["naming#2"]}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((QRELS, QRELS, ["mrr"]), TypeError, "at_least must map metrics to floors"),
        ((QRELS, QRELS, {}), ValueError, "at_least is empty"),
        ((QRELS, QRELS, None), TypeError, r"nothing to check: pass at_least=.* at_most= or at_least_per_query=$"),
        ((QRELS, QRELS, {"mrrr": 1}), ValueError, "mrr"),
        (
            (QRELS, QRELS, {"mrr": "high"}),
            TypeError,
            "the floor of mrr must be a number, a pair of it and .* got 'high'",
        ),
        ((QRELS, QRELS, {"mrr": (0.5, 0)}), ValueError, "queries that the floor of mrr needs"),
        ((QRELS, QRELS, {"mrr": math.nan}), ValueError, "the floor of mrr must be finite"),
        (
            (QRELS, QRELS, {"mrr": 60}),
            ValueError,
            "at_least for mrr must be .* got 60: .* Did you mean 0.6",
        ),
        ((QRELS, QRELS, {"mrr": (-1, 3)}), ValueError, "at_least for mrr must be .* got -1: every value would pass$"),
        ((QRELS, QRELS, {"map": 0, "ap": 1}), ValueError, "at_least has map twice"),
        ((QRELS, 3, {"mrr": 1}), TypeError, "a retriever must be a function .* got int"),
        (({7: ["a"]}, len, {"mrr": 1}), TypeError, "there is no text for query 7: pass queries="),
    ],
)
def test_what_makes_no_sense_is_said(
    check: RetrievalCheck, arguments: tuple[Any, Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"at_least_per_query": [0.5]}, TypeError, "at_least_per_query must map metrics to the floor of every query"),
        ({"at_least_per_query": {"mrr": {"what is a cell?": 1}}}, ValueError, "there is no judged query 'what is a c"),
        ({"at_least_per_query": {"mrr": 60}}, ValueError, "at_least_per_query for mrr must be .* Did you mean 0.6"),
        ({"at_least_per_query": {"mrr": {}}}, ValueError, "at_least_per_query for mrr names no query"),
        ({"at_least_per_query": {"mrr": None}}, TypeError, "the floor of mrr must be a number; got None"),
        (
            {"at_least_per_query": {"mrr": {"what is a closure?": (1, 3)}}},
            TypeError,
            r"the floor of mrr for 'what is a closure\?' must be a number; got \(1, 3\)",
        ),
        ({"at_most": {"leak@5": None}}, TypeError, "the ceiling of leak@5 must be a number; got None"),
        ({"at_most": {"leak@5": (0, 3)}}, TypeError, r"the ceiling of leak@5 must be a number; got \(0, 3\)"),
        (
            {"at_most": {"leak@5": 5}},
            ValueError,
            "at_most for leak@5 must be .* got 5: .* Did you mean 0.05",
        ),
        ({"no_regression": "q7", "baseline": True}, TypeError, r"must be a list of query IDs, got 'q7'; pass \['q7'\]"),
        ({"no_regression": ["what is a closure"], "baseline": True}, ValueError, r"did you mean 'what is a closure\?'"),
        ({"queries": {}}, TypeError, "queries= are texts for a retriever; a run needs none"),
        ({"rounds": 0}, ValueError, "rounds"),
    ],
)
def test_what_is_asked_of_queries_is_read_before_anything_is_retrieved(
    check: RetrievalCheck, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(QRELS, QRELS, {"mrr": 1}, **options)


def test_a_metric_beside_a_ceiling_may_be_only_shown(check: RetrievalCheck) -> None:
    qrels = {"q": {"a": 1, "x": -1}}
    result = check(qrels, {"q": ["b", "a"]}, {"recall@1": None}, at_most={"leak@5": 0.5})
    outcome_by_metric = {verdict.metric: verdict.outcome for verdict in result.verdicts}
    assert outcome_by_metric == {"recall@1": "not_gated", "leak@5": "passed"}
    with pytest.raises(pytest.fail.Exception, match="recall@1 not compared"):
        check(qrels, {"q": ["b", "a"]}, {"recall@1": 0}, at_most={"leak@5": 0.5}, name="zero")


@pytest.mark.parametrize("floor", [None, 0])
def test_a_metric_that_nothing_bounds_is_not_compared(check: RetrievalCheck, floor: float | None) -> None:
    run = {query: ["x", *ranking] for query, ranking in QRELS.items()}
    with pytest.raises(pytest.fail.Exception, match=r"mrr not compared: without a baseline .* in at_least, or"):
        check(QRELS, run, {"recall@5": 1, "mrr": floor})
    check(QRELS, run, {"mrr": floor}, at_least_per_query={"mrr": 0.5}, name="bounded")
    with pytest.raises(pytest.fail.Exception, match="set a ceiling in at_most"):
        check({"q": {"a": 1, "x": -1}}, {"q": ["x"]}, {"leak@5": None}, name="falls")
