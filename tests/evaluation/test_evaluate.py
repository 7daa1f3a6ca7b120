"""What `evaluate` does in each situation, for a set and for one row, and that it says so."""

import copy
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently


class TestStandardRules:
    def test_a_missing_query_scores_zero_is_counted_and_warned_of(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match=r"1 of 2 judged queries .*'q2'"):
            result = rm.evaluate({"q1": ["a"], "q2": ["a"]}, {"q1": ["a"]}, ["map"])
        assert result.means["map"] == 0.5
        assert result.counts["missing"] == 1
        assert result.n["map"] == result.counts["scored"] == 2

    def test_an_empty_ranking_is_a_missing_query(self) -> None:
        result = evaluate_silently({"q1": ["a"], "q2": ["a"]}, {"q1": ["a"], "q2": []}, ["map", "judged@5"])
        assert result.counts["missing"] == 1
        assert result.per_query["map"] == {"q1": 1, "q2": 0}
        assert math.isnan(result.per_query["judged@5"]["q2"])
        assert result.n["judged@5"] == 1

    def test_the_mean_of_nothing_is_nan(self) -> None:
        assert math.isnan(rm.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["map"]).means["map"])

    def test_a_repeated_document_earns_once_keeps_its_place_and_is_counted(self) -> None:
        result = rm.evaluate({"q": ["a", "b"]}, {"q": ["a", "a", "x", "b"]}, ["map", "ndcg", "precision@4"])
        assert dict(result.means) == pytest.approx(
            {"map": 0.75, "ndcg": (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3)), "precision@4": 0.5}
        )
        assert result.counts["duplicates"] == 1

    def test_a_negative_grade_is_judged_and_gains_nothing(self) -> None:
        result = rm.evaluate({"q": {"a": 1, "bad": -1}}, {"q": ["bad", "a"]}, ["ndcg", "judged", "bpref"])
        assert result.means["judged"] == 1
        assert result.means["ndcg"] == 1 / math.log2(3)
        assert result.means["bpref"] == 1


WORKED_QRELS = [["test-1", "test-2"], ["test-3"]]
WORKED_RANKING = ["test-1", "pred-1", "test-2", "pred-3"]


class TestGroups:
    @pytest.mark.parametrize(
        ("rules", "expected"),
        [
            (
                "standard",
                {"precision": 0.5, "recall": 0.5, "f1": 0.5, "mrr": 1, "map": 0.5, "ndcg": 0.6131471927654584},
            ),
            (
                "autorag",
                {"precision": 0.5, "recall": 0.5, "f1": 0.5, "mrr": 0.5, "map": 5 / 12, "ndcg": 0.7039180890341347},
            ),
        ],
    )
    def test_the_worked_example(self, rules: str, expected: dict[str, float]) -> None:
        result = rm.evaluate({"q": WORKED_QRELS}, {"q": WORKED_RANKING}, list(expected), rules=rules)
        assert dict(result.means) == pytest.approx(expected, abs=1e-15)

    def test_one_item_that_satisfies_two_groups_gives_two_hit_rows(self) -> None:
        result = rm.evaluate(
            {"q": [["both", "a"], ["both"]]}, {"q": ["x", "both"]}, ["map", "mrr", "recall@2", "map@2"]
        )
        assert dict(result.means) == pytest.approx(
            {"map": (1 / 2 + 2 / 3) / 2, "mrr": 0.5, "recall@2": 1, "map@2": 0.25}
        )


class TestOtherRules:
    def test_trec_eval_refuses_repeats_and_fractions_by_name(self) -> None:
        with pytest.raises(ValueError, match="ranking of query 'q' holds a document twice, which trec_eval refuses"):
            rm.evaluate({"q": ["a"]}, {"q": ["a", "a"]}, rules="trec_eval")
        with pytest.raises(ValueError, match=r"document 'a' for query 'q' has 0\.5"):
            rm.evaluate({"q": {"a": 0.5}}, {"q": ["a"]}, rules="trec_eval")

    def test_own_rules_are_data(self) -> None:
        rules = rm.Rules(name="mine", missing="skip", no_relevant="zero", parameters={"map": {"norm": "retrieved"}})
        result = evaluate_silently(
            {"q": ["a", "b"], "p": ["a"], "z": {"a": 0}}, {"q": ["a"], "z": ["a"]}, ["map"], rules=rules
        )
        assert result.per_query["map"] == {"q": 1, "z": 0}
        assert "3 queries, mine rules" in str(result)

    def test_what_a_name_says_wins_over_the_rules(self) -> None:
        rules = rm.Rules(name="mine", parameters={"ndcg": {"gain": "exponential"}})
        qrels = {"q": {"a": 1, "b": 3}}
        run = {"q": ["a", "b"]}
        assert rm.evaluate(qrels, run, "ndcg(gain=binary)", rules=rules).means["ndcg(gain=binary)"] == 1
        assert rm.evaluate(qrels, run, "ndcg", rules=rules).means["ndcg"] < 0.75

    def test_unknown_rules_are_refused_with_the_known_ones(self) -> None:
        with pytest.raises(ValueError, match=r"unknown rules 'trec'.*standard, trec_eval"):
            rm.evaluate({"q": ["a"]}, {"q": ["a"]}, rules="trec")
        with pytest.raises(TypeError, match=r"rule.* got int"):
            rm.evaluate({"q": ["a"]}, {"q": ["a"]}, rules=1)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(
    ("qrels", "run", "error", "message"),
    [
        ({}, {"q": ["a"]}, ValueError, "qrels are empty"),
        ({"q": ["a"]}, {}, ValueError, "the run is empty; write a query without retrieved documents"),
        (
            {"q": ["a"]},
            {"p": ["a"]},
            ValueError,
            r"no query in common: the run begins with query 'p', the qrels with query 'q'",
        ),
        ({"q": ["a"]}, {1: ["a"]}, TypeError, "query IDs in the qrels are str and those in the run are int"),
        ({"q": ["a"]}, {"q": [1]}, TypeError, "document IDs in the qrels are str and those in the run are int"),
        ({"q": ["a"]}, [["a"]], TypeError, "a run must map each query ID to its ranking, got list"),
        ({"q": ["a"]}, "bm25.run", TypeError, r"got str; a file is read with read_run\('bm25.run'\)"),
        ("a.trec", {"q": ["a"]}, TypeError, r"got str; a file is read with read_qrels\('a.trec'\)"),
        (Path("a.trec"), {"q": ["a"]}, FileNotFoundError, "a.trec"),
    ],
)
def test_what_cannot_be_compared_is_refused(qrels: Any, run: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate(qrels, run)


def test_one_million_documents_for_one_query() -> None:
    ranking = [f"d{number}" for number in range(1_000_000)]
    result = rm.evaluate({"q": {"d0": 1, "d999999": 1}}, {"q": ranking}, ["recall@10", "recall", "map"])
    assert dict(result.means) == pytest.approx({"recall@10": 0.5, "recall": 1, "map": (1 + 2 / 1e6) / 2})


def count_python_calls(work: Callable[[], object]) -> int:
    """Return how many functions in Python a work calls; those in C are not counted."""
    n_calls = 0

    def count(_frame: object, event: str, _: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    # A coverage measurement or a debugger may have set another.
    profile = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(profile)
    return n_calls


@pytest.mark.parametrize("form", [dict, list, set])
def test_no_function_is_called_for_each_judged_document(form: Callable[[Any], Any]) -> None:
    source = random.Random(0)
    names = [f"d{number}" for number in range(2_000)]
    run: Any = {f"q{query}": source.sample(names, 10) for query in range(40)}
    n_calls = []
    for n_judged in (300, 300, 600):  # the first call fills caches
        qrels = {query: form(dict.fromkeys(source.sample(names, n_judged), 1)) for query in run}
        n_calls.append(count_python_calls(lambda qrels=qrels: rm.evaluate(qrels, run)))  # type: ignore[misc]
    assert n_calls[2] < 1.1 * n_calls[1]


@pytest.mark.parametrize("has_scores", [True, False])
def test_no_function_is_called_for_each_retrieved_document(has_scores: bool) -> None:
    source = random.Random(0)
    names = [f"d{number}" for number in range(2_000)]
    qrels: Any = {f"q{query}": source.sample(names, 3) for query in range(40)}
    n_calls = []
    for n_results in (300, 300, 600):  # the first call fills caches
        run: Any = {query: source.sample(names, n_results) for query in qrels}
        if has_scores:
            run = {query: {name: 1 / rank for rank, name in enumerate(run[query], 1)} for query in run}
        n_calls.append(count_python_calls(lambda run=run: rm.evaluate(qrels, run)))  # type: ignore[misc]
    assert n_calls[2] < 1.1 * n_calls[1]


def test_nothing_that_was_handed_over_is_changed() -> None:
    qrels: Any = {"q": [{"a": 2, "b": 1}, ["c"]], "p": {"a": 0}, "r": ["z", "z"]}
    run: Any = {"q": {"c": 1.0, "a": 1.0}, "p": ["a", "a"], "s": []}
    before = copy.deepcopy((qrels, run))
    evaluate_silently(qrels, run)
    assert (qrels, run) == before


def test_the_default_metrics_are_computed_when_none_are_named() -> None:
    assert tuple(rm.evaluate({"q": ["a"]}, {"q": ["a"]}).means) == rm.DEFAULT_METRICS


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.evaluate({"q": ["a"], "p": ["b"]}, {"q": ["x"]})
    assert {warning.filename for warning in caught} == {__file__}


METRICS = [*rm.DEFAULT_METRICS, "err@5", "rbp(p=0.5)", "bpref", "judged@5", "alpha_ndcg@10", "r_precision", "f1@5"]
unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
