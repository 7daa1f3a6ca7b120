"""A metric over its cut-off is the metric evaluated at each cut-off."""

import math
import warnings
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import CASES, METRICS, Case
from retrieval_metrics.adapting import Scorer
from retrieval_metrics.results.summary import usual_cutoffs
from retrieval_metrics.types import QueryScore

QRELS = {"q1": {"a": 2, "b": 1}, "q2": ["c"], "q3": {"c": 0}}
RUN = {"q1": ["x", "a", "y", "b"], "q2": ["c"], "q3": ["c"]}


def test_each_mean_is_that_of_an_evaluation_at_that_cut_off() -> None:
    result = rm.evaluate(QRELS, RUN, ["mrr@2"])
    over = result.over_cutoffs("ndcg(gain=exponential)@7", [1, 2, 5])
    assert over == {
        k: rm.evaluate(QRELS, RUN, f"ndcg(gain=exponential)@{k}").means[f"ndcg(gain=exponential)@{k}"]
        for k in (1, 2, 5)
    }


def test_a_slice_is_averaged_over_its_own_queries() -> None:
    assert rm.evaluate(QRELS, RUN, "mrr").by({"q1": "one"})["one"].over_cutoffs("recall", [1, 2, 4]) == {
        1: 0, 2: 0.5, 4: 1,
    }  # fmt: skip


def test_cut_offs_go_to_twice_the_largest_asked_for_or_the_longest_ranking() -> None:
    long = {"q": [f"d{at}" for at in range(300)]}
    assert usual_cutoffs([rm.evaluate({"q": ["d1"]}, long, "mrr@8").scores], rm.Metric.parse("mrr@8")) == list(
        range(1, 17)
    )
    assert usual_cutoffs([rm.evaluate(QRELS, RUN, "mrr@8").scores], rm.Metric.parse("mrr@8")) == [1, 2, 3, 4]
    far = usual_cutoffs([rm.evaluate({"q": ["d1"]}, long, "mrr@100").scores], rm.Metric.parse("mrr@100"))
    assert far[:20] == list(range(1, 21))
    assert far[-1] == 200
    assert sorted(set(far)) == far
    assert len(far) < 60


def test_cut_offs_of_a_budget_are_budgets() -> None:
    chunks = [rm.Retrieved(f"d{at}", "x" * 40) for at in range(10)]
    result = rm.evaluate({"q": ["d3"]}, {"q": chunks}, "recall@120chars")
    over = result.over_cutoffs("recall@120chars")
    assert list(over) == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240]
    assert over == {
        size: rm.evaluate({"q": ["d3"]}, {"q": chunks}, f"recall@{size}chars").means[f"recall@{size}chars"]
        for size in over
    }
    assert [size for size, mean in over.items() if mean] == [160, 180, 200, 220, 240]  # four chunks of 40
    assert result.over_cutoffs("mrr@1chars", [159, 160]) == {159: 0, 160: 0.25}


def test_what_takes_no_cut_off_is_refused() -> None:
    result = rm.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(ValueError, match="r_precision takes no cut-off"):
        result.over_cutoffs("r_precision")
    with pytest.raises(ValueError, match="a cut-off must be a positive integer, got 0"):
        result.over_cutoffs("ndcg", [0])


def test_over_cut_offs_ties_are_treated_as_in_the_means() -> None:
    truth, run = {"q1": ["a"], "q2": ["a"]}, {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 2.0, "x": 1.0}}
    result = rm.evaluate(truth, run, "mrr@10", ties="expected")
    assert result.means["mrr@10"] == 0.875  # ((1 + 1/2) / 2 + 1) / 2
    assert result.over_cutoffs("mrr", [10]) == {10: 0.875}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_values_are_those_of_evaluate_in_a_run_and_alone(case: Case) -> None:
    expected = rm.evaluate(case.qrels, case.run, METRICS).per_query
    together = Scorer(METRICS).queries(case.qrels, case.run)
    for metric, scores in together.items():
        assert list(scores) == list(case.qrels)
        for query, truth in case.qrels.items():
            alone = Scorer(metric).queries({query: truth}, {query: case.run.get(query, [])})[metric][query]
            assert repr(alone) == repr(scores[query])
            assert scores[query].value.hex() == expected[str(metric)][query].hex()
            assert scores[query].is_defined is not math.isnan(scores[query].value)


def test_ranks_and_numbers_are_counted_by_hand() -> None:
    qrels: dict[str, Any] = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": [["a", "b"], ["c"]], "q3": ["z"], "q4": []}
    run = {"q1": ["c", "b", "x", "a", "b"], "q2": ["b", "a", "x"], "q3": []}
    metric = rm.Metric.of("recall", 2)
    scores = Scorer(metric).queries(qrels, run)[metric]
    assert scores["q1"] == QueryScore(0.5, (2, 4), 2, 5)
    assert scores["q2"] == QueryScore(0.5, (1, 2), 2, 3)
    assert scores["q3"] == QueryScore(0.0, (), 1, 0)
    assert scores["q4"][1:4] == ((), 0, 0)
    strict = rm.Metric.of("recall", rel=2)
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
    metric = rm.Metric.of("map")
    (score,) = Scorer(metric).queries(qrels, {"q": items})[metric].values()
    assert score.value.hex() == rm.evaluate(qrels, {"q": items}, "map").means["map"].hex()
    assert score[1:4] == ((2, 3), 2, 3)


def test_a_mean_of_few_values_without_a_bound_says_that_its_interval_may_hold_less_often() -> None:
    def said(n: int, bounds: tuple[float, float]) -> str:
        return str(rm.Evaluation.of_scores({"latency": {f"q{at}": 0.5 + at for at in range(n)}}, bounds=bounds))

    assert "from fewer than 25 queries is about 77 to 94 if values are skewed" in said(24, (0, math.inf))
    assert "skewed" not in said(25, (0, math.inf))
    assert "skewed" not in said(24, (0, 100))
