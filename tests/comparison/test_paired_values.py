"""The values of several systems stand in one table, a row per query that any of them has."""

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.comparison.paired_values import PairedValues
from retrieval_metrics.inputs.clusters import Clusters

nan = float("nan")


def align(values: dict[str, dict[str, float]], clusters: Clusters | None = None) -> PairedValues:
    scores = {}
    for name, by_query in values.items():
        scores[name] = rm.Evaluation.from_scores({"gain": by_query}, bounds=(0, 1)).scores
    metrics = next(iter(scores.values())).metrics
    return PairedValues.from_scores(scores, metrics, clusters)


def test_queries_are_in_the_order_of_the_first_system_that_has_them() -> None:
    paired = align({"a": {"q1": 0.1, "q2": 0.2}, "b": {"q3": 0.3, "q2": 0.4}})
    assert list(paired.queries) == ["q1", "q2", "q3"]
    assert paired.systems == ("a", "b")
    np.testing.assert_equal(paired.values[:, :, 0], [[0.1, 0.2, nan], [nan, 0.4, 0.3]])


def test_equal_queries_are_kept_as_they_are() -> None:
    evaluation = rm.Evaluation.from_scores({"gain": {"q1": 0.1, "q2": 0.2}}, bounds=(0, 1))
    scores = evaluation.scores
    paired = PairedValues.from_scores({"a": scores, "b": scores}, scores.metrics, None)
    assert paired.queries is scores.queries
    assert paired.labels is None


def test_shared_rows_have_a_value_in_all_systems() -> None:
    paired = align({"a": {"q1": 0.1, "q2": 0.2}, "b": {"q1": nan, "q2": 0.4}, "c": {"q1": 0.5, "q2": 0.6}})
    (metric,) = paired.metrics
    rows, values = paired.shared(metric)
    assert rows.tolist() == [1]
    assert values.tolist() == [[0.2, 0.4, 0.6]]
    assert list(paired.shared_queries(rows)) == ["q2"]
    rows, values = paired.shared(metric, ["c", "a"])
    assert rows.tolist() == [0, 1]
    assert values.tolist() == [[0.5, 0.1], [0.6, 0.2]]
    assert paired.shared_queries(rows) is paired.queries


def test_the_clusters_of_rows_are_those_of_their_queries() -> None:
    values = {"a": {"q1": 0.1, "q2": 0.2, "q3": 0.3}, "b": {"q1": 0.3, "q2": 0.4, "q3": 0.5}}
    assert align(values).shared_labels(np.array([0, 2])) is None
    clusters = Clusters(("q1", "q2", "q3"), [("x",), ("y",), ("x",)], by_source=False)
    labels = align(values, clusters).shared_labels(np.array([0, 1, 2]))
    assert labels is not None
    assert labels[0] == labels[2] != labels[1]
