"""The columns of scores are computed once and cannot be written."""

from math import nan
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.scores import Column


class TestColumns:
    QRELS: ClassVar[dict[str, Any]] = {"q1": ["a", "b"], "q2": ["a"], "q3": []}
    RUN: ClassVar[dict[str, Any]] = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}

    def read_column(self, column: Column, metric: str, **options: Any) -> list[float] | None:
        evaluation = rm.evaluate(self.QRELS, self.RUN, metric, **options)
        values = evaluation.scores.per_query_column(column, evaluation.metrics[0])
        return None if values is None else values.tolist()

    def test_the_ideal_is_known_where_it_can_be_less_than_1(self) -> None:
        assert self.read_column("ideal", "precision@4") == pytest.approx([0.5, 0.25, nan], nan_ok=True)
        assert self.read_column("ideal", "mrr") is None

    def test_queries_that_need_one_document_are_0_or_1_in_recall(self) -> None:
        assert self.read_column("two_valued", "recall@5") == pytest.approx([0, 1, nan], nan_ok=True)

    def test_the_range_over_orders_is_known_if_ties_are_averaged(self) -> None:
        assert self.read_column("lowest", "mrr", ties="expected") == pytest.approx([0.5, 0.5, nan], nan_ok=True)
        assert self.read_column("highest", "mrr", ties="expected") == pytest.approx([1, 0.5, nan], nan_ok=True)
        assert self.read_column("depends", "mrr", ties="expected") == [1, 0, 0]
        assert self.read_column("depends", "mrr") is None

    def test_they_are_computed_once_and_cannot_be_written(self) -> None:
        scores = rm.evaluate(self.QRELS, self.RUN, "precision@4").scores
        metric = scores.metrics[0]
        assert scores.per_query_column("ideal", metric) is scores.per_query_column("ideal", metric)
        assert scores.sums("ideal", metric) is scores.sums("ideal", metric)
        with pytest.raises(ValueError, match="read-only"):
            scores.column(metric)[0] = 1.0


def test_positions_are_those_among_the_judged_queries() -> None:
    qrels = {f"q{number}": ["a"] for number in range(4)}
    evaluation = rm.evaluate(qrels, {query: ["a"] for query in qrels}, "mrr")
    assert evaluation.scores.positions.tolist() == [0, 1, 2, 3]
    slices = evaluation.group_by(lambda query: query in {"q1", "q3"})
    assert slices[True].scores.positions.tolist() == [1, 3]
    assert slices[True].scores.position("q3") == 3
    with pytest.raises(KeyError, match="'q0' was not evaluated"):
        slices[True].scores.position("q0")
