"""Means, intervals and counts from the rows of single queries, or from some of them."""

from pathlib import Path
from typing import Any

import pytest
import ray

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation

QRELS: Any = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}
RUN: Any = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {"c": 1.0}}


@pytest.fixture(scope="module")
def results() -> Any:
    return evaluate_dataset(QRELS, dataset(*run_rows(RUN), 2), ["mrr", "precision@5"], partitions=2).materialize()


def test_some_rows_give_the_evaluation_of_their_queries(results: Any) -> None:
    some = results.filter(lambda row: row["query"] != "q2")
    queries = ("q1", "q3")
    expected = rm.evaluate({q: QRELS[q] for q in queries}, {q: RUN[q] for q in queries}, ["mrr", "precision@5"])
    assert str(to_evaluation(some)) == str(expected)


def test_rows_may_be_written_read_and_given_more_columns(results: Any, tmp_path: Path) -> None:
    results.write_parquet(str(tmp_path))
    again = ray.data.read_parquet(str(tmp_path)).add_column("language", lambda batch: ["de"] * len(batch))
    assert str(to_evaluation(again)) == str(rm.evaluate(QRELS, RUN, ["mrr", "precision@5"]))


def test_the_evaluation_holds_no_query(results: Any) -> None:
    with pytest.raises(ValueError, match="hold no single queries"):
        _ = to_evaluation(results).per_query


def test_what_was_made_under_other_rules_is_refused() -> None:
    found = dataset([("q1", "a", 1.0)], "score")
    skipping = evaluate_dataset(QRELS, found, "mrr", semantics="trec_eval", partitions=1)
    with pytest.raises(Exception, match="made under other rules than standard; pass their rules as semantics="):
        to_evaluation(skipping)
    assert to_evaluation(skipping, semantics="trec_eval").n["mrr"] == 1


@pytest.mark.parametrize(("made", "asked"), [("expected", None), (None, "expected")])
def test_what_was_made_with_other_ties_is_refused(made: str | None, asked: str | None) -> None:
    results = evaluate_dataset(QRELS, dataset(*run_rows(RUN)), "mrr", ties=made, partitions=1)
    with pytest.raises(Exception, match=r'made with ties="expected", but the rules have .* pass the same ties='):
        to_evaluation(results, ties=asked)


def test_rows_without_a_metric_are_refused(results: Any) -> None:
    with pytest.raises(Exception, match="these rows have no values of metrics"):
        to_evaluation(results.drop_columns(["mrr", "precision@5"]))


def test_rows_of_something_else_are_refused() -> None:
    with pytest.raises(ValueError, match="not a result of evaluate_dataset: they have no column 'is_judged'"):
        to_evaluation(ray.data.from_items([{"mrr": 0.5}]))


def test_results_of_other_scales_do_not_add_up() -> None:
    found = dataset([("q1", "a", 1.0), ("q2", "b", 1.0)], "score")
    parts = [
        to_evaluation(evaluate_dataset(qrels, found, ["err", "rbp"], partitions=1))
        for qrels in ({"q1": {"a": 1}}, {"q2": {"b": 3}})
    ]
    with pytest.raises(ValueError, match=r"largest grade, which is 1 in one part and 3 in another"):
        rm.merge(parts)
    assert rm.merge(parts[:1]).means["rbp"] == rm.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "rbp").means["rbp"]


def test_what_is_no_dataset_is_refused() -> None:
    given: Any = rm.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(TypeError, match="results must be a Ray Dataset, got Evaluation"):
        to_evaluation(given)


def test_no_row_is_no_evaluation(results: Any) -> None:
    with pytest.raises(ValueError, match="these results are empty"):
        to_evaluation(results.filter(lambda _: False))


def test_ids_that_never_meet_are_warned_of() -> None:
    chunks = dataset([("q1", "a-chunk-1", 1.0)], "score")
    with pytest.warns(rm.RetrievalWarning, match="none of the retrieved documents is judged .* ids of chunks compared"):
        assert to_evaluation(evaluate_dataset({"q1": ["a"]}, chunks, "mrr", partitions=1)).means["mrr"] == 0


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("semantics", ["standard", "trec_eval"])
def test_a_run_without_any_judged_query_is_refused_as_by_the_core(semantics: str, partitions: int) -> None:
    judgments, rankings = {"q1": {"a": 1}, "q2": {"b": 1}}, {"Q1": {"a": 1.0}, "Q2": {"b": 2.0}, "Q3": {"c": 1.0}}
    with pytest.raises(ValueError, match="the run and the qrels have no query in common"):
        rm.evaluate(judgments, rankings, "mrr", semantics=semantics)
    rows = [(query, document, score) for query, found in rankings.items() for document, score in found.items()]
    run = dataset(rows, "score")
    results = evaluate_dataset(judgments, run, "mrr", semantics=semantics, partitions=partitions)
    said = (
        r"no query in common: the run has, for example, 'Q[123]', the qrels have 'q[12]'; evaluate_dataset\(qrels, run"
    )
    with pytest.raises(ValueError, match=said):
        to_evaluation(results, semantics=semantics)


def test_a_slice_of_queries_for_which_nothing_was_retrieved_is_no_error() -> None:
    found = dataset([("q1", "a", 1.0)], "score")
    results = evaluate_dataset({"q1": ["a"], "q2": ["b"]}, found, "mrr", partitions=2)
    with pytest.warns(rm.RetrievalWarning, match="none of the retrieved"):
        part = to_evaluation(results.filter(lambda row: row["query"] == "q2"))
    assert (part.means["mrr"], part.counts["missing"]) == (0, 1)
