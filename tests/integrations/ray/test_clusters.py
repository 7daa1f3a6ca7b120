"""Intervals that know which queries belong together are those of the core, however the rows are cut."""

from functools import cache
from typing import Any

import pytest

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation

QUERIES = [f"q{at}" for at in range(60)]
QRELS: Any = {query: {"d": 2, "e": 1, "f": 0} for query in QUERIES} | {"none": {"d": 0}}
RUN: Any = {
    query: {"x": 3.0, "d": 2.0, "e": 2.0} if at // 2 % 3 else {"d": 2.0, "f": 1.0} for at, query in enumerate(QUERIES)
} | {"other": {"d": 1.0}}
BY_DOCUMENT = {query: at // 2 for at, query in enumerate(QUERIES)}
METRICS = ["mrr", "ndcg@5", "precision@5", "rbp(p=0.8)", "hit_rate@1"]


@cache
def scored(ties: str | None) -> Any:
    found = dataset(*run_rows(RUN), 3, seed=4)
    return evaluate_dataset(QRELS, found, METRICS, ties=ties, partitions=3).materialize()


def evaluation(**options: Any) -> rm.Evaluation:
    return to_evaluation(scored(options.get("ties")), **options)


@pytest.mark.filterwarnings("ignore:nothing was retrieved for 1 of 61:retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("options", [{}, {"ties": "expected"}])
@pytest.mark.parametrize("clusters", [BY_DOCUMENT, BY_DOCUMENT.get])
def test_clusters_are_those_of_the_core(options: dict[str, Any], clusters: Any) -> None:
    ours = evaluation(clusters=clusters, **options)
    core = rm.evaluate(QRELS, RUN, METRICS, clusters=clusters, **options)
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
    run = {query: ranking for query, ranking in RUN.items() if query != "q7"}
    names = ["mrr", "ndcg@5", "precision@5"]
    results = evaluate_dataset(QRELS, dataset(*run_rows(run), 2), names, semantics="trec_eval", partitions=2)
    ours = to_evaluation(results, semantics="trec_eval", clusters=BY_DOCUMENT)
    with pytest.warns(rm.RetrievalWarning, match="those not in the run are left out"):
        core = rm.evaluate(QRELS, run, names, semantics="trec_eval", clusters=BY_DOCUMENT)
    assert str(ours) == str(core)
    assert "q7" not in ours.queries


@pytest.mark.parametrize("clusters", [None, "source"])
def test_judgments_by_id_know_no_source(clusters: Any) -> None:
    ours = evaluation(clusters=clusters)
    assert dict(ours.intervals()) == dict(evaluation().intervals())
    assert ours.record.clusters is None


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
