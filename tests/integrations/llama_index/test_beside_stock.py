"""Where the metrics and the evaluators of llama-index-core have a definition that holds, ours give the same."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.evaluation import MRR, HitRate
from llama_index.core.evaluation import MultiModalRetrieverEvaluator as StockMultiModalRetrieverEvaluator
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics import NDCG, AveragePrecision, Precision, Recall
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode

from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric
from llama_index_hosts import Prepared, PreparedAsync

EQUIVALENTS = [
    (HitRate(), "hit_rate"),
    (HitRate(use_granular_hit_rate=True), "recall"),
    (MRR(), "mrr"),
    (Precision(), "precision"),
    (Recall(), "recall"),
    (AveragePrecision(), "ap"),
    (NDCG(), "ndcg"),
    (NDCG(mode="exponential"), "ndcg(gain=exponential)"),
]
DISTINCT = st.lists(st.sampled_from([f"id{number}" for number in range(12)]), min_size=1, unique=True)
NODES = [
    NodeWithScore(node=TextNode(id_="caption", text="a closure drawn"), score=0.9),
    NodeWithScore(node=ImageNode(id_="drawing", text="", image_path="closure.png"), score=0.8),
    NodeWithScore(node=TextNode(id_="remark", text="see the drawing"), score=0.7),
]
EVALUATORS = [
    (
        StockRetrieverEvaluator,
        RetrieverEvaluator,
        RetrievalEvalMode.TEXT,
    ),  # the host's ranks texts too if asked for images
    (StockMultiModalRetrieverEvaluator, RetrieverEvaluator, RetrievalEvalMode.TEXT),
    (StockMultiModalRetrieverEvaluator, RetrieverEvaluator, RetrievalEvalMode.IMAGE),
]


@pytest.mark.parametrize(
    ("stock", "name"), EQUIVALENTS, ids=[f"{type(stock).__name__}-{name}" for stock, name in EQUIVALENTS]
)
@given(expected=DISTINCT, retrieved=DISTINCT)
def test_distinct_ids_score_the_same(stock: Any, name: str, expected: list[str], retrieved: list[str]) -> None:
    stock_score = stock.compute(expected_ids=expected, retrieved_ids=retrieved).score
    assert metric(name).compute(expected_ids=expected, retrieved_ids=retrieved).score == pytest.approx(
        stock_score, rel=1e-12
    )


class Shouting(BaseNodePostprocessor):
    """Changes the texts and the order, and notes which of its two forms was called."""

    called: list[str] = []

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,
    ) -> list[NodeWithScore]:
        self.called.append("sync")
        return loud(nodes)

    async def _apostprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,
    ) -> list[NodeWithScore]:
        self.called.append("async")
        return loud(nodes)


class SynchronousShouting(BaseNodePostprocessor):
    """Has one form only, which the host then calls from its asynchronous one."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,
    ) -> list[NodeWithScore]:
        return loud(nodes)


def loud(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return texts in capitals, and images as they are, last first."""
    shouted = []
    for scored in reversed(nodes):
        if isinstance(scored.node, ImageNode):
            shouted.append(scored)
        else:
            capitals = TextNode(id_=scored.node_id, text=scored.text.upper())
            shouted.append(NodeWithScore(node=capitals, score=scored.score))
    return shouted


@pytest.mark.parametrize("postprocessor", [None, Shouting, SynchronousShouting])
@pytest.mark.parametrize("retriever", [Prepared, PreparedAsync])
@pytest.mark.parametrize(("stock", "ours", "mode"), EVALUATORS, ids=["plain", "multimodal", "images"])
def test_the_evaluators_return_the_same_results(
    stock: Any, ours: Any, mode: RetrievalEvalMode, retriever: Any, postprocessor: Any
) -> None:
    fields = []
    values = []
    for kind in (stock, ours):
        evaluator = kind.from_metric_names(
            ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"],
            retriever=retriever({"q": NODES}),
            node_postprocessors=[postprocessor()] if postprocessor else None,
        )
        answers = [
            evaluator.evaluate("q", ["drawing", "absent"], mode=mode),
            asyncio.run(evaluator.aevaluate("q", ["drawing", "absent"], mode=mode)),
        ]
        for answer in answers:
            fields.append(
                answer.model_dump(include={"query", "expected_ids", "retrieved_ids", "retrieved_texts", "mode"})
            )
            values.append(answer.metric_vals_dict)
    assert fields[0]["retrieved_ids"]
    assert fields == [fields[0]] * 4
    assert values == [pytest.approx(values[0], rel=1e-12)] * 4


def test_postprocessors_are_asked_in_the_style_of_the_caller() -> None:
    postprocessor = Shouting()
    evaluator = RetrieverEvaluator.from_metric_names(
        ["mrr"], retriever=Prepared({"q": NODES}), node_postprocessors=[postprocessor]
    )
    results = [evaluator.evaluate("q", ["remark"]), asyncio.run(evaluator.aevaluate("q", ["remark"]))]
    assert [result.retrieved_texts for result in results] == [["SEE THE DRAWING", "", "A CLOSURE DRAWN"]] * 2
    assert evaluator.node_postprocessors is not None
    assert Shouting.model_validate(evaluator.node_postprocessors[0]).called == ["sync", "async"]
