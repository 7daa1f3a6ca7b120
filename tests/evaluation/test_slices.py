"""Slices of the queries are evaluations of their own."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.types import Judgments, Ranking

QRELS: dict[str, Judgments] = {"q1": ["a"], "q2": ["a"], "q3": {"a": 0}, "q4": ["a"]}
RUN: dict[str, Ranking] = {"q1": ["a", "a"], "q2": ["x", "a"], "q3": ["a"], "q4": {"a": 1.0, "b": 1.0}, "q9": ["a"]}
LABELS = {"q1": "short", "q2": "long", "q3": "short", "q4": "long", "q9": "long"}


@pytest.fixture
def result() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["mrr", "rbp"])


def test_a_slice_is_the_evaluation_of_its_queries(result: rm.Evaluation) -> None:
    slices = result.group_by(LABELS)
    assert list(slices) == ["short", "long"]
    for label, evaluation in slices.items():
        queries = [query for query in QRELS if LABELS[query] == label]
        qrels = {query: QRELS[query] for query in queries}
        run = {query: RUN[query] for query in queries}
        expected = rm.evaluate(qrels, run, ["mrr", "rbp"])
        assert str(evaluation) == str(expected)
        assert dict(evaluation.counts) == dict(expected.counts)
        assert dict(evaluation.residuals) == dict(expected.residuals)


def test_a_slice_explains_its_queries_and_no_others(result: rm.Evaluation) -> None:
    long = result.group_by(LABELS)["long"]
    assert [explanation.query for explanation in long.worst("mrr")] == ["q2", "q4"]
    with pytest.raises(KeyError, match=r"'q1' was not evaluated.*'q2', 'q4'"):
        long.explain("q1")


def test_labels_may_be_computed_and_queries_without_one_are_counted(result: rm.Evaluation) -> None:
    slices = result.group_by(lambda query: None if query == "q2" else int(query[1]) > 2)
    assert {label: evaluation.queries for label, evaluation in slices.items()} == {False: ("q1",), True: ("q3", "q4")}
    assert slices.unlabelled == 1
    assert "1 query without a label is in no slice" in str(slices)


def test_one_table_holds_all_slices(result: rm.Evaluation) -> None:
    lines = str(result.group_by(LABELS)).splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["slice", "metric", "mean"],
        ["short", "mrr", "1.000"],
        ["short", "rbp", "0.200"],
        ["long", "mrr", "0.500"],
        ["long", "rbp", "0.160"],
    ]
    frame = result.group_by(LABELS).to_pandas()
    assert frame["mean"].tolist() == pytest.approx([1, 0.2, 0.5, 0.16])
    assert frame["n"].tolist() == [1, 1, 2, 2]


def test_slices_can_be_cut_again(result: rm.Evaluation) -> None:
    assert list(result.group_by(LABELS)["long"].group_by({"q4": "tied"})["tied"].queries) == ["q4"]


def test_what_is_no_label_is_an_error(result: rm.Evaluation) -> None:
    with pytest.raises(TypeError, match="labels must map"):
        result.group_by(["short", "long"])  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(ValueError, match=r"no query has a label; .* such as 'q1', 'q2', 'q3'"):
        result.group_by({1: "short"})
    with pytest.raises(KeyError, match=r"'middle'.*'short', 'long'"):
        result.group_by(LABELS)["middle"]


def test_a_slice_has_the_tie_range_of_its_queries() -> None:
    qrels = {"q1": ["a"], "q2": ["a"]}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    slices = rm.evaluate(qrels, run, "mrr", ties="expected").group_by({"q1": "tied", "q2": "alone"})
    for label, expected in {"tied": (0.5, 1.0), "alone": (1.0, 1.0)}.items():
        tie_range = slices[label].tie_range
        assert tie_range is not None
        assert tie_range.means["mrr"] == expected
