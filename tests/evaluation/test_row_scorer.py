"""Rows of hosts, each a query: one evaluation of all, without those that cannot be judged."""

from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import CASES, Case
from retrieval_metrics.evaluation.row_scorer import ROW
from retrieval_metrics.integration_api import RowScorer, Scorer
from retrieval_metrics.types import MergedRanking

QRELS: dict[str, Any] = {"a": {"d1": 1}, "b": {"d1": 3}, "c": ["d2"]}


def test_what_is_refused_alone_is_left_out_with_the_reason_and_the_scale_stays_that_of_all() -> None:
    run = rm.RetrievedRun({"a": ["x", "d1"], "b": [7], "c": []}, {"c": KeyError("c")})
    with pytest.warns(rm.RetrievalWarning, match="1 of 2"):
        evaluation, refusals = Scorer(["err", "mrr"]).evaluation(QRELS, run)
    assert {query: type(error) for query, error in refusals.items()} == {"b": TypeError}
    assert evaluation.per_query["mrr"] == {"a": 0.5, "c": 0.0}
    assert evaluation.per_query["err"]["a"] == 1 / 8 / 2  # (2 ** 1 - 1) / 2 ** 3, at rank 2
    assert evaluation.counts["failed"] == 1


def test_the_calls_and_seconds_of_what_is_not_refused_are_kept() -> None:
    rankings: dict[str, Any] = {"a": ["x", "d1"], "b": [7]}
    run = rm.RetrievedRun(rankings, seconds={"a": 0.5, "b": 0.25}, calls={"a": [1, 2], "b": [1]})
    evaluation, refusals = Scorer("recall@2calls").evaluation({"a": ["d1"], "b": ["d2"]}, run)
    assert list(refusals) == ["b"]
    assert evaluation.means["recall@2calls"] == 1.0
    assert evaluation.seconds == {"a": 0.5}


def test_what_is_no_single_row_is_raised_as_are_rows_that_are_all_refused() -> None:
    mixed: dict[str, Any] = {"a": ["d1"], "b": [2]}
    with pytest.raises(TypeError, match="partly str and partly int"):
        Scorer("mrr").evaluation(mixed, rm.RetrievedRun({"a": ["d1"], "b": [2]}))
    with pytest.raises(TypeError, match="the run are int"):
        Scorer("mrr").evaluation({"a": ["d1"]}, rm.RetrievedRun({"a": [1]}))


def test_a_row_for_which_nothing_was_retrieved_is_0_under_every_budget() -> None:
    metrics = ["recall@200chars", "recall@50tokens", "recall@2calls"]
    for failure in (None, "the application failed"):
        scores = RowScorer(metrics).row(["d1"], list, failure=failure)
        assert [score.value for score in scores.values()] == [0.0, 0.0, 0.0]
    with pytest.warns(rm.RetrievalWarning, match="2 of 2"):
        whole = rm.evaluate({"a": ["d1"], "b": ["d2"]}, {"a": [], "b": []}, metrics)
    assert whole.means == dict.fromkeys(metrics, 0.0)
    with pytest.raises(ValueError, match="the rankings hold only IDs"):
        RowScorer(metrics).row(["d1"], lambda: ["d1"])


@pytest.mark.parametrize("max_grade", ["3", True, -1, 0, float("nan")])
def test_a_largest_grade_that_cannot_be_one_is_refused_before_any_row(max_grade: Any) -> None:
    for scorer_type in (Scorer, RowScorer):
        with pytest.raises((TypeError, ValueError), match="max_grade must be"):
            scorer_type("err", max_grade=max_grade)


def test_a_row_whose_application_failed_did_not_abstain() -> None:
    scorer = RowScorer(["leak@5", "recall@5"])
    judgments = {"a": 1, "z": -1}

    def score_row(ranking: list[str], failure: str | None = None) -> list[str]:
        scores = scorer.row(judgments, lambda: ranking, failure=failure)
        return [str(score.value) for score in scores.values()]

    assert score_row([]) == ["0.0", "0.0"]
    assert score_row([], failure="out of memory") == ["nan", "0.0"]
    assert score_row(["z"], failure="the answer timed out") == ["1.0", "0.0"]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("rules", ["standard", "haystack", "autorag"])
def test_the_values_of_a_row_are_those_of_a_run_to_the_last_bit(case: Case, rules: str) -> None:
    metrics = ["mrr", "map@5", "ndcg@10", "recall@5", "judged@3", "rbp(max_grade=3)", "leak@5"]
    scorer = RowScorer(metrics, rules=rules)
    for query, judgments in case.qrels.items():
        ranking = case.run.get(query, [])
        row_scores = scorer.row(judgments, lambda ranking=ranking: ranking)  # type: ignore[misc]  # bound for this query
        run_scores = Scorer(metrics, rules=rules).queries({ROW: judgments}, {ROW: ranking})
        for metric, score in row_scores.items():
            assert repr(score) == repr(run_scores[metric][ROW])


def test_calls_that_a_cutoff_hides_are_warned_of() -> None:
    merged = MergedRanking(["a", "b", "c"], origins=((1, 1), (1, 2), (2, 1)))
    with pytest.warns(rm.RetrievalWarning, match="recall@2"):
        RowScorer(["recall@2", "recall@1calls"]).row(["a"], lambda: merged)


@pytest.mark.parametrize("ranking", [["q1", "d7"], {"q1": 3.0, "d7": 1.0}, [rm.Retrieved("q1"), rm.Retrieved("d7")]])
def test_documents_to_leave_out_of_a_row_take_no_rank(ranking: Any) -> None:
    scorer = RowScorer("mrr")
    assert [score.value for score in scorer.row(["d7"], lambda: ranking, exclude=["q1"]).values()] == [1.0]
    assert [score.value for score in scorer.row(["d7"], lambda: ranking).values()] == [0.5]
    with pytest.warns(rm.RetrievalWarning, match="1 relevant document is excluded by exclude= .'d7' of case 1"):
        scorer.row(["d7"], lambda: ranking, exclude=["d7"], name="case 1")
    with pytest.raises(TypeError, match="case 1 cannot be judged: the IDs to leave out are int"):
        scorer.row(["d7"], lambda: ranking, exclude=[7], name="case 1")


def test_documents_are_left_out_of_merged_searches_with_their_calls() -> None:
    merged = MergedRanking(["q1", "d3", "d7"], ((1, 1), (1, 2), (2, 1)))
    (score,) = RowScorer("recall@1calls").row(["d7"], lambda: merged, exclude=["q1"]).values()
    assert (score.value, score.n_retrieved) == (0.0, 2)
    (score,) = RowScorer("recall@2calls").row(["d7"], lambda: merged, exclude=["q1"]).values()
    assert score.value == 1.0
