# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics[plot]",
#   "langchain-retrieval-metrics",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# langchain-retrieval-metrics = { path = "../integrations/langchain", editable = true }
# ///
"""Evaluate LangChain retrievers on real questions: by passage, by quote, and with a service that sometimes fails.

Run it with `uv run examples/langchain_evaluation.py`. It needs no network.
"""

import asyncio
import time
import warnings
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import questions
import retrieval_metrics as rm
from corpus import passages
from langchain_mmr import BM25Retriever, as_document, store_of
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever
from retrievers import BM25, Dense

METRICS = ["hit_rate@5", "full_recall@5", "recall@10", "mrr@10", "map", "ndcg@10"]


def main() -> None:
    """Print the metrics of each retriever, and those of a service that sometimes fails."""
    pieces = passages()
    documents = {piece.id: as_document(piece) for piece in pieces}
    dataset = rm.EvaluationSet(questions.queries(), questions.qrels(pieces))
    bm25 = BM25Retriever(index=BM25(pieces), documents=documents)
    vectors = store_of(Dense(pieces), documents).as_retriever(search_kwargs={"k": 50})
    print(f"{len(dataset)} questions with grades and groups, {len(documents)} documents\n")

    for name, retriever in {"BM25": bm25, "vectors": vectors}.items():
        print(f"{name}, by passage:\n{evaluate_retriever(retriever, dataset, METRICS)}\n")

    # Judgments by the sentences that answer a question survive another chunking.
    quotes: dict[str, Any] = {key: as_quotes(relevant) for key, relevant in questions.quotes().items()}
    judged_by_quote = rm.EvaluationSet(dataset.queries, quotes)
    print(f"BM25, by quote:\n{evaluate_retriever(bm25, judged_by_quote, ['recall@10', 'mrr@10'])}\n")

    asyncio.run(failing_service())


def as_quotes(relevant: dict[str, int] | list[dict[str, int]]) -> Any:
    """Return judged sentences as judged quotes."""
    if isinstance(relevant, list):
        return [as_quotes(group) for group in relevant]
    return {rm.Quote(sentence): grade for sentence, grade in relevant.items()}


async def failing_service() -> None:
    """Evaluate a slow service that is down for every tenth question."""

    async def ask(query: str) -> list[Document]:
        await asyncio.sleep(0.02)
        if query.endswith("0"):
            raise ConnectionError("the service is down")
        return [Document(f"an answer to {query}", id=query)]

    def refuse(_: str) -> list[Document]:
        raise NotImplementedError("only asynchronously")

    rows = [{"query": f"question {number}", "relevant": [f"question {number}"]} for number in range(40)]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)  # the result says the same
        result = await aevaluate_retriever(RunnableLambda(refuse, ask), rows, "mrr", max_concurrency=8)
    print(f"{len(rows)} questions of 20 ms, 8 at a time: {time.perf_counter() - started:.2f} s\n{result}")
    query, error = next(iter(result.errors.items()))
    print(f"{query!r} failed: {error!r}")


if __name__ == "__main__":
    main()
