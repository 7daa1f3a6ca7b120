"""Means, intervals and counts from the rows of single queries, or from some of them."""

from functools import cache
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
    selected = results.filter(lambda row: row["query"] != "q2")
    queries = ("q1", "q3")
    expected = rm.evaluate({q: QRELS[q] for q in queries}, {q: RUN[q] for q in queries}, ["mrr", "precision@5"])
    assert str(to_evaluation(selected)) == str(expected)


def test_rows_may_be_written_read_and_given_more_columns(results: Any, tmp_path: Path) -> None:
    results.write_parquet(str(tmp_path))
    again = ray.data.read_parquet(str(tmp_path)).add_column("language", lambda batch: ["de"] * len(batch))
    assert str(to_evaluation(again)) == str(rm.evaluate(QRELS, RUN, ["mrr", "precision@5"]))


def test_the_evaluation_holds_no_query(results: Any) -> None:
    with pytest.raises(ValueError, match="have no per-query values"):
        _ = to_evaluation(results).per_query


def test_what_was_made_under_other_rules_is_refused() -> None:
    run = dataset([("q1", "a", 1.0)], "score")
    skipping = evaluate_dataset(QRELS, run, "mrr", rules="trec_eval", partitions=1)
    with pytest.raises(Exception, match="made under other rules than standard; pass their rules as rules="):
        to_evaluation(skipping)
    assert to_evaluation(skipping, rules="trec_eval").n["mrr"] == 1


@pytest.mark.parametrize(("made_with", "read_with"), [("expected", None), (None, "expected")])
def test_what_was_made_with_other_ties_is_refused(made_with: str | None, read_with: str | None) -> None:
    results = evaluate_dataset(QRELS, dataset(*run_rows(RUN)), "mrr", ties=made_with, partitions=1)
    with pytest.raises(Exception, match=r'made with ties="expected", but the rules have .* pass the same ties='):
        to_evaluation(results, ties=read_with)


def test_rows_without_a_metric_are_refused(results: Any) -> None:
    with pytest.raises(Exception, match="these rows have no values of metrics"):
        to_evaluation(results.drop_columns(["mrr", "precision@5"]))


def test_rows_of_something_else_are_refused() -> None:
    with pytest.raises(ValueError, match="not a result of evaluate_dataset: they have no column 'is_judged'"):
        to_evaluation(ray.data.from_items([{"mrr": 0.5}]))


def test_results_of_other_scales_do_not_add_up() -> None:
    run = dataset([("q1", "a", 1.0), ("q2", "b", 1.0)], "score")
    parts = [
        to_evaluation(evaluate_dataset(qrels, run, ["err", "rbp"], partitions=1))
        for qrels in ({"q1": {"a": 1}}, {"q2": {"b": 3}})
    ]
    with pytest.raises(ValueError, match=r"largest grade, which is 1 in one part and 3 in another"):
        rm.merge(parts)
    assert rm.merge(parts[:1]).means["rbp"] == rm.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "rbp").means["rbp"]


def test_what_is_no_dataset_is_refused() -> None:
    evaluation: Any = rm.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(TypeError, match="results must be a Ray Dataset, got Evaluation"):
        to_evaluation(evaluation)


def test_no_row_is_no_evaluation(results: Any) -> None:
    with pytest.raises(ValueError, match="these results are empty"):
        to_evaluation(results.filter(lambda _: False))


def test_ids_that_never_meet_are_warned_of() -> None:
    chunks = dataset([("q1", "a-chunk-1", 1.0)], "score")
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document .* in a chunk suffix") as caught:
        assert to_evaluation(evaluate_dataset({"q1": ["a"]}, chunks, "mrr", partitions=1)).means["mrr"] == 0
    assert caught[0].filename == __file__


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("rules", ["standard", "trec_eval"])
def test_a_run_without_any_judged_query_is_refused_as_by_the_core(rules: str, partitions: int) -> None:
    judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
    rankings = {"Q1": {"a": 1.0}, "Q2": {"b": 2.0}, "Q3": {"c": 1.0}}
    with pytest.raises(ValueError, match="the run and the qrels have no query in common"):
        rm.evaluate(judgments, rankings, "mrr", rules=rules)
    run = dataset(*run_rows(rankings))
    results = evaluate_dataset(judgments, run, "mrr", rules=rules, partitions=partitions)
    message = (
        r"no query in common: the run has, for example, 'Q[123]', the qrels have 'q[12]'; evaluate_dataset\(qrels, run"
    )
    with pytest.raises(ValueError, match=message):
        to_evaluation(results, rules=rules)


def test_a_slice_of_queries_for_which_nothing_was_retrieved_is_no_error() -> None:
    run = dataset([("q1", "a", 1.0)], "score")
    results = evaluate_dataset({"q1": ["a"], "q2": ["b"]}, run, "mrr", partitions=2)
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        part = to_evaluation(results.filter(lambda row: row["query"] == "q2"))
    assert (part.means["mrr"], part.counts["missing"]) == (0, 1)


QUERIES = [f"q{number}" for number in range(60)]

CLUSTERED: Any = {query: {"d": 2, "e": 1, "f": 0} for query in QUERIES} | {"none": {"d": 0}}

TIED_RANKING = {"x": 3.0, "d": 2.0, "e": 2.0}

CLEAR_RANKING = {"d": 2.0, "f": 1.0}

RANKED: Any = {
    **{query: TIED_RANKING if number // 2 % 3 else CLEAR_RANKING for number, query in enumerate(QUERIES)},
    "other": {"d": 1.0},
}

BY_DOCUMENT = {query: number // 2 for number, query in enumerate(QUERIES)}

METRICS = ["mrr", "ndcg@5", "precision@5", "rbp(p=0.8)", "hit_rate@1"]


@cache
def scored(ties: str | None) -> Any:
    run = dataset(*run_rows(RANKED), 3, seed=4)
    return evaluate_dataset(CLUSTERED, run, METRICS, ties=ties, partitions=3).materialize()


def evaluation(**options: Any) -> rm.Evaluation:
    return to_evaluation(scored(options.get("ties")), **options)


@pytest.mark.filterwarnings("ignore:.*judged queries:retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("options", [{}, {"ties": "expected"}])
@pytest.mark.parametrize("clusters", [BY_DOCUMENT, BY_DOCUMENT.get])
def test_clusters_are_those_of_the_core(options: dict[str, Any], clusters: Any) -> None:
    ours = evaluation(clusters=clusters, **options)
    core = rm.evaluate(CLUSTERED, RANKED, METRICS, clusters=clusters, **options)
    assert str(ours) == str(core)
    assert dict(ours.intervals()) == dict(core.intervals())
    assert dict(ours.means) == dict(core.means)
    assert ours.counts == core.counts
    for metric, values in core.per_query.items():
        assert {query: repr(value) for query, value in ours.per_query[metric].items()} == {
            query: repr(value) for query, value in values.items()
        }
    independent = evaluation(**options)
    assert dict(independent.means) == dict(ours.means)
    assert dict(independent.intervals()) != dict(ours.intervals())


def test_queries_that_the_rules_leave_out_are_in_no_cluster() -> None:
    run = dict(RANKED)
    del run["q7"]
    names = ["mrr", "ndcg@5", "precision@5"]
    results = evaluate_dataset(CLUSTERED, dataset(*run_rows(run), 2), names, rules="trec_eval", partitions=2)
    ours = to_evaluation(results, rules="trec_eval", clusters=BY_DOCUMENT)
    with pytest.warns(rm.RetrievalWarning, match="is excluded if absent from the run"):
        core = rm.evaluate(CLUSTERED, run, names, rules="trec_eval", clusters=BY_DOCUMENT)
    assert str(ours) == str(core)
    assert "q7" not in ours.queries


@pytest.mark.parametrize("clusters", [None, "source"])
def test_judgments_by_id_know_no_source(clusters: Any) -> None:
    ours = evaluation(clusters=clusters)
    assert dict(ours.intervals()) == dict(evaluation().intervals())
    assert ours.totals().counts == ours.counts  # clusters would refuse totals


@pytest.mark.parametrize(
    ("clusters", "error", "message"),
    [
        ({"somebody": 1}, ValueError, "clusters= has none of the judged queries"),
        (lambda _: "one", ValueError, "puts all queries into one cluster"),
        ("topic", ValueError, "or None, got 'topic'"),
        (7, TypeError, "or None, got int"),
    ],
)
def test_what_are_no_clusters_is_refused(clusters: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluation(clusters=clusters)
