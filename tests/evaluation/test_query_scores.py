"""The values of single queries come with the ranks and numbers behind them."""

import math
import warnings
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import CASES, METRICS, Case
from retrieval_metrics.integration_api import Scorer
from retrieval_metrics.types import QueryScore


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_values_are_those_of_evaluate_in_a_run_and_alone(case: Case) -> None:
    expected = rm.evaluate(case.qrels, case.run, METRICS).per_query
    for metric, score_by_query in Scorer(METRICS).queries(case.qrels, case.run).items():
        assert list(score_by_query) == list(case.qrels)
        for query, judgments in case.qrels.items():
            score = score_by_query[query]
            run_of_query = {query: case.run.get(query, [])}
            score_alone = Scorer(metric).queries({query: judgments}, run_of_query)[metric][query]
            assert repr(score_alone) == repr(score)
            assert score.value.hex() == expected[str(metric)][query].hex()
            assert score.is_defined is not math.isnan(score.value)
            assert score.value_or_none == (score.value if score.is_defined else None)


def test_ranks_and_numbers_are_counted_by_hand() -> None:
    qrels: dict[str, Any] = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": [["a", "b"], ["c"]], "q3": ["z"], "q4": []}
    run = {"q1": ["c", "b", "x", "a", "b"], "q2": ["b", "a", "x"], "q3": []}
    metric = rm.Metric("recall", 2)
    scores = Scorer(metric).queries(qrels, run)[metric]
    assert scores["q1"] == QueryScore(0.5, (2, 4), 2, 5)
    assert scores["q2"] == QueryScore(0.5, (1, 2), 2, 3)
    assert scores["q3"] == QueryScore(0.0, (), 1, 0)
    assert scores["q4"][1:4] == ((), 0, 0)
    strict = rm.Metric("recall", rel=2)
    assert Scorer(strict).queries(qrels, run)[strict]["q1"] == QueryScore(1.0, (4,), 1, 5)


def test_it_never_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Scorer("map").queries({"q": ["a"]}, {"q": []})
        Scorer("map").queries({"q": ["a"]}, {})


def test_pieces_are_scored_and_their_ranks_are_those_of_what_is_relevant() -> None:
    qrels = {"q": [rm.Quote("a block with methods"), rm.Text("A block is a piece of text.")]}
    items = [
        rm.Retrieved("c1", "something else"),
        rm.Retrieved("c2", "wraps a block with methods. A block is a piece of text."),
        rm.Retrieved("c3", "Again: a block is a piece of text."),
    ]
    metric = rm.Metric("map")
    (score,) = Scorer(metric).queries(qrels, {"q": items})[metric].values()
    assert score.value.hex() == rm.evaluate(qrels, {"q": items}, "map").means["map"].hex()
    assert score[1:4] == ((2, 3), 2, 3)
