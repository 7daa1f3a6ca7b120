# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "llama-index-evaluation-retrieval-metrics",
#   "bm25s>=0.2.14",
#   "pandas>=2.1",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# llama-index-evaluation-retrieval-metrics = { path = "../integrations/llama_index", editable = true }
# ///
"""Evaluate LlamaIndex retrievers, BM25 and a vector index, on real questions with graded judgments and groups.

Run it with `uv run examples/llama_index_evaluation.py`. It needs no network.
"""

import asyncio
import time
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.evaluation.notebook_utils import get_retrieval_results_df
from llama_index.core.node_parser import SimpleFileNodeParser
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)

import questions
from corpus import Passage, passages
from llama_index.evaluation.retrieval_metrics import MMRPostprocessor, RetrieverEvaluator
from retrieval_metrics import EvaluationSet
from retrievers import BM25, Dense

METRICS = ["hit_rate@5", "full_recall@5", "recall@10", "mrr@10", "map", "ndcg@10"]
DEPTH = 50


def as_nodes(pieces: list[Passage], dense: Dense) -> list[TextNode]:
    """Return passages as nodes with vectors, as if a splitter had cut them from their topics."""
    return [
        TextNode(
            id_=passage.id,
            text=passage.text,
            embedding=vector,
            start_char_idx=passage.start,
            end_char_idx=passage.end,
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.topic)},
        )
        for passage, vector in zip(pieces, dense.vectors.tolist(), strict=True)
    ]


class BM25Retriever(BaseRetriever):
    """Lexical retrieval. It is synchronous, so the evaluator runs it in threads."""

    def __init__(self, pieces: list[Passage], nodes: list[TextNode]) -> None:
        """Index the passages."""
        super().__init__()
        self._search = BM25(pieces).search
        self._nodes = {node.node_id: node for node in nodes}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        passages_found = self._search(query_bundle.query_str, DEPTH)
        return [NodeWithScore(node=self._nodes[name], score=score) for name, score in passages_found.items()]


class LatentSemanticEmbedding(BaseEmbedding):
    """The vectors of the examples' dense retriever: an embedding model that needs no download."""

    _dense: Dense = PrivateAttr()

    def __init__(self, dense: Dense) -> None:
        """Wrap a dense retriever."""
        super().__init__(model_name="latent semantic analysis")
        self._dense = dense

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(value) for value in self._dense.encode(text)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def vector_retriever(nodes: list[TextNode], model: BaseEmbedding) -> BaseRetriever:
    """Return the retriever of a vector index over the nodes."""
    never_used: list[TransformComponent] = [SimpleFileNodeParser()]  # without it the index creates a default one
    return VectorStoreIndex(nodes, embed_model=model, transformations=never_used).as_retriever(similarity_top_k=DEPTH)


class Slow(BaseRetriever):
    """A service that answers after 20 ms."""

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0.02)
        return [NodeWithScore(node=TextNode(id_=query_bundle.query_str))]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return asyncio.run(self._aretrieve(query_bundle))


def main() -> None:
    """Print the metrics of each retriever, by passage and by topic, and the time of a slow service."""
    pieces = passages()
    dense = Dense(pieces)
    nodes = as_nodes(pieces, dense)
    model = LatentSemanticEmbedding(dense)
    dataset = EvaluationSet(questions.queries(), questions.qrels(pieces))
    retrievers = {"BM25": BM25Retriever(pieces, nodes), "vectors": vector_retriever(nodes, model)}
    print(f"{len(dataset)} questions with grades and groups, {len(nodes)} nodes\n")

    results = {}
    for name, retriever in retrievers.items():
        evaluator = RetrieverEvaluator.from_metric_names(METRICS, retriever=retriever)
        results[name] = evaluator.evaluate_dataset(dataset, workers=4)
    print("By passage, in LlamaIndex's table:")
    print(get_retrieval_results_df(list(results), [[*result] for result in results.values()], METRICS).to_string())

    print("\nThe result of retrieval-metrics for BM25:")
    print(results["BM25"].evaluation)

    topics: dict[Any, Any] = {key: topics_of(relevant) for key, relevant in dataset.qrels.items()}
    evaluator = RetrieverEvaluator.from_metric_names(METRICS, retriever=retrievers["BM25"], match="source")
    print("\nBM25 by topic (match='source'): a second passage of a topic gets no credit")
    print(evaluator.evaluate_dataset(EvaluationSet(dataset.queries, topics)))

    evaluator = RetrieverEvaluator.from_metric_names(
        METRICS,
        retriever=retrievers["BM25"],
        node_postprocessors=[MMRPostprocessor(top_n=10, lambda_mult=0.9, embed_model=model)],
    )
    print("\nBM25, reranked by MMR to 10 passages that are relevant and differ")
    print(evaluator.evaluate_dataset(dataset))

    started = time.perf_counter()
    service = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Slow())
    service_evaluation = service.evaluate_dataset(
        [(f"question {number}", [f"question {number}"]) for number in range(40)], workers=8
    )
    print(f"\n{len(service_evaluation)} queries of 20 ms with 8 workers: {time.perf_counter() - started:.2f} s")


def topics_of(relevant: Any) -> Any:
    """Return judged passages as judged topics."""
    if isinstance(relevant, list):
        return [topics_of(group) for group in relevant]
    grades: dict[str, int] = {}
    for passage, grade in relevant.items():
        topic = passage.partition("#")[0]
        grades[topic] = max(grade, grades.get(topic, 0))
    return grades


if __name__ == "__main__":
    main()
