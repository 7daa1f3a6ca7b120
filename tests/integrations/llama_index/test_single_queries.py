"""Queries that are evaluated one by one say once that no ranking reaches a cutoff."""

import warnings
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from llama_index.evaluation.retrieval_metrics.single_queries import N_QUERIES


def make_evaluator(n_nodes: int, metrics: list[str]) -> RetrieverEvaluator:
    nodes = [NodeWithScore(node=TextNode(text="text", id_=f"n{number}"), score=1.0) for number in range(n_nodes)]
    return RetrieverEvaluator.from_metric_names(metrics, retriever=lambda _: nodes)


def count_warnings(evaluator: RetrieverEvaluator, n_queries: int) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rm.RetrievalWarning)
        for _ in range(n_queries):
            result: Any = evaluator.evaluate("a question", ["n0"])
            assert result.metric_vals_dict["mrr@10"] == 1.0
    return len([warning for warning in caught if issubclass(warning.category, rm.RetrievalWarning)])


def test_the_third_short_ranking_is_warned_of_and_no_other() -> None:
    evaluator = make_evaluator(2, ["recall@10", "mrr@10"])
    assert count_warnings(evaluator, N_QUERIES - 1) == 0
    with pytest.warns(rm.RetrievalWarning, match="in the first 3 queries, no ranking has more than 2 .*retrieve 10"):
        evaluator.evaluate("a question", ["n0"])
    assert count_warnings(evaluator, 10) == 0


@pytest.mark.parametrize(("n_nodes", "metrics"), [(10, ["recall@10", "mrr@10"]), (12, ["mrr@10", "map"])])
def test_rankings_that_reach_every_cutoff_are_not_warned_of(n_nodes: int, metrics: list[str]) -> None:
    assert count_warnings(make_evaluator(n_nodes, metrics), 2 * N_QUERIES) == 0
