"""What a user of LlamaIndex writes: files judged by their names, MMR, stages and a comparison."""

import asyncio

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    DatasetResult,
    MMRPostprocessor,
    RetrieverEvalResult,
    RetrieverEvaluator,
    ranking_metrics,
    register,
)

DOCUMENTS = [Document(text=f"text {number}", metadata={"file_name": f"{number}.md"}) for number in range(9)]
METRICS = ["mrr", "map", "ndcg@10", "hit_rate@3"]
BY_FILE = "metadata:file_name"


class Mine(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        node = TextNode(id_="a", text=query_bundle.query_str, metadata={"file_name": "1.md"})
        return [NodeWithScore(node=node, score=1.0)]


async def main() -> None:
    index = VectorStoreIndex.from_documents(DOCUMENTS, embed_model=MockEmbedding(8))
    post = [MMRPostprocessor(top_n=3, vectors=index, relevance="rank")]
    retriever = index.as_retriever(similarity_top_k=5)
    evaluator = RetrieverEvaluator.from_metric_names(METRICS, retriever=retriever, node_postprocessors=post)
    query_result: RetrieverEvalResult = await evaluator.aevaluate("q", expected_ids=["a"])
    value: float = query_result.metric_vals_dict["mrr"]
    questions = [("q", ["1.md"]), ("r", {"2.md": 2, "3.md": 1}), ("s", [["4.md", "5.md"], ["6.md"]])]
    result: DatasetResult = await evaluator.aevaluate_dataset(questions, match=BY_FILE, workers=4, stages=True)
    mine = RetrieverEvaluator(metrics=ranking_metrics(METRICS), retriever=Mine())
    other = mine.evaluate_dataset(questions, match=BY_FILE)
    compared: rm.Comparison = rm.compare_retrievers({"a": retriever, "b": Mine()}, questions, "mrr", match=BY_FILE)
    low: float = other.evaluation.intervals()["mrr"].low
    with register(["mrr@10"]):
        print(value, low, compared.summary, result.comparison(other, names=("a", "b")))
    for query, error in result.errors.items():
        print(query, type(error).__name__)


if __name__ == "__main__":
    asyncio.run(main())
