# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "langchain-retrieval-metrics",
#   "ragas-retrieval-metrics",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# langchain-retrieval-metrics = { path = "../integrations/langchain", editable = true }
# ragas-retrieval-metrics = { path = "../integrations/ragas", editable = true }
# ///
"""Ranking metrics in Ragas, on real questions with graded judgments and groups: no LLM, no key, no network.

Run it with `uv run examples/ragas_evaluation.py`. It takes about 15 seconds, mostly to import ragas.
"""

import asyncio
import contextlib
import io
import os
import warnings
from typing import Any

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # otherwise ragas reports every evaluation to its developers
os.environ["TQDM_DISABLE"] = "1"  # otherwise a ragas experiment shows a progress bar

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from ragas import Dataset, EvaluationDataset, evaluate, experiment

import questions
import retrieval_metrics as rm
from corpus import Passage, passages
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    HitRate,
    Recall,
    RetrievalMetric,
    from_langchain,
    metric_suite,
    to_evaluation,
)
from retrievers import BM25, Dense, Retriever

DEPTH = 10


class PassageRetriever(BaseRetriever):
    """A retriever of the examples as a LangChain retriever."""

    retriever: Any
    texts: dict[str, str]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return [Document(self.texts[name], id=name) for name in self.retriever.search(query, DEPTH)]


def datasets(pieces: list[Passage], evaluation_set: rm.EvaluationSet) -> dict[str, EvaluationDataset]:
    """Return the rows of both retrievers, with the ids that ragas itself leaves empty."""
    texts = {piece.id: piece.text for piece in pieces}
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    return {
        name: from_langchain(PassageRetriever(retriever=retriever, texts=texts), evaluation_set, show_progress=False)
        for name, retriever in retrievers.items()
    }


def by_quotes() -> dict[str, Any]:
    """Return the judgments as quotes, by the text of the question. They hold for every chunking."""
    texts = questions.queries()
    return {texts[name]: as_quotes(relevant) for name, relevant in questions.quotes().items()}


def as_quotes(relevant: Any) -> Any:
    """Return graded texts, or groups of them, as graded quotes."""
    if isinstance(relevant, list):
        return [as_quotes(group) for group in relevant]
    return {rm.Quote(text): grade for text, grade in relevant.items()}


@experiment()
async def answer(row: dict[str, Any], metrics: list[RetrievalMetric]) -> dict[str, Any]:
    """Score one row with the interface that ragas recommends. For every fifth question the store is down."""
    if row["number"] % 5 == 0:
        raise ConnectionError("the store is down")
    fields = {"user_input": row["user_input"], "retrieved_context_ids": row["retrieved_context_ids"]}
    return {**row, **{metric.name: (await metric.ascore(**fields)).value for metric in metrics}}


def main() -> None:
    """Print both retrievers judged by ids, one judged by quotes, and an experiment in which rows fail."""
    pieces = passages()
    evaluation_set = rm.EvaluationSet(questions.queries(), questions.qrels(pieces))
    rows = datasets(pieces, evaluation_set)
    print(f"{len(evaluation_set)} questions with grades and groups, {len(pieces)} passages")

    suite = metric_suite(k=(3, 10), qrels=evaluation_set)
    evaluations = {name: to_evaluation(evaluate(samples, suite, show_progress=False)) for name, samples in rows.items()}
    print("\nmetric         " + "".join(f"{name:>8}" for name in evaluations))
    for metric in evaluations["BM25"].means:
        print(f"{metric:<15}" + "".join(f"{evaluation.means[metric]:8.3f}" for evaluation in evaluations.values()))

    quotes = by_quotes()
    texts = [metric(DEPTH, by="texts", qrels=quotes) for metric in (HitRate, Recall, MRR, NDCG)]
    print("\nBM25 by quotes instead of IDs:")
    print(to_evaluation(evaluate(rows["BM25"], texts, show_progress=False), qrels=quotes))

    print("\nAn experiment in which every fifth row fails:")
    numbered = [{"number": number, **row} for number, row in enumerate(rows["BM25"].to_list())]
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=numbered)
    metrics: list[RetrievalMetric] = [MRR(DEPTH, qrels=evaluation_set), NDCG(DEPTH, qrels=evaluation_set)]
    result = asyncio.run(quietly(answer.arun(dataset, metrics=metrics)))
    print(f"mean of the remaining rows, as ragas shows it: {result.to_pandas()[metrics[0].name].mean():.3f}")
    with warnings.catch_warnings(action="ignore", category=rm.RetrievalWarning):  # the printed result says the same
        print(to_evaluation(result, dataset))


async def quietly(running: Any) -> Any:
    """Wait for an experiment, without the line that ragas prints for every failed row."""
    with contextlib.redirect_stdout(io.StringIO()):
        return await running


if __name__ == "__main__":
    main()
