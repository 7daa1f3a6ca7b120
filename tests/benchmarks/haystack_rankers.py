# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "retrieval-metrics-haystack",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
#   "sentence-transformers-haystack>=2",
#   "threadpoolctl>=3",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# retrieval-metrics-haystack = { path = "../../integrations/haystack", editable = true }
# ///
"""What Haystack's diversity ranker and MMRRanker make of the same candidates: order, relevance, diversity and time.

Run it with `uv run tests/benchmarks/haystack_rankers.py`; it brings torch, which is large. Both rankers get the same
vectors: the model of Haystack's is replaced by a table of them, so that its embedding of all candidates for every query
is in no number here.
"""

import os
import sys
from pathlib import Path
from typing import Any

from measure import machine, use_one_thread

use_one_thread()
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))

import time

import numpy as np
import torch
from haystack import Document
from haystack_integrations.components.rankers.sentence_transformers import (
    SentenceTransformersDiversityRanker,
)

import questions
import retrieval_metrics as rm
from corpus import passages
from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker
from retrieval_metrics.reports import tables
from retrievers import Dense

FETCH_K = 50
K = 10
WEIGHTS = (0.3, 0.5, 0.8)


class Table:
    """Takes the place of a model: it knows every text already."""

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = {text: torch.tensor(vector) for text, vector in vectors.items()}

    def encode(self, texts: list[str], **_: Any) -> Any:
        """Return the vectors of some texts."""
        return torch.stack([self.vectors[text] for text in texts])


def main() -> None:
    """Print one row for each ranker and setting."""
    torch.set_num_threads(1)
    dense = Dense(pieces := passages())
    queries = questions.queries()
    vectors = dict(zip(dense.ids, dense.vectors, strict=True))
    texts = {piece.id: f"{piece.id}: {piece.text}" for piece in pieces}
    documents = {
        name: Document(id=name, content=texts[name], embedding=vector.tolist()) for name, vector in vectors.items()
    }
    query_vectors = {text: dense.encode(text) for text in queries.values()}
    candidates = {query: [documents[name] for name in dense.search(text, FETCH_K)] for query, text in queries.items()}
    model: Any = Table({texts[name]: vector for name, vector in vectors.items()} | query_vectors)

    def theirs(**settings: Any) -> Any:
        ranker = SentenceTransformersDiversityRanker(top_k=K, **settings)
        ranker.model = model
        return lambda query: ranker.run(query=queries[query], documents=candidates[query])

    def ours(lambda_mult: float) -> Any:
        ranker = MMRRanker(top_k=K, lambda_mult=lambda_mult)
        embedded = {query: query_vectors[text].tolist() for query, text in queries.items()}
        return lambda query: ranker.run(candidates[query], query_embedding=embedded[query])

    rankers = {"as retrieved": lambda query: {"documents": candidates[query][:K]}}
    for weight in WEIGHTS:
        theirs_at = theirs(strategy="maximum_margin_relevance", lambda_threshold=weight)
        rankers |= {f"Haystack, MMR at {weight}": theirs_at, f"MMRRanker at {weight}": ours(weight)}
    rankers["Haystack, greedy"] = theirs(strategy="greedy_diversity_order")

    rows = []
    orders: dict[str, dict[Any, list[str]]] = {}
    for name, rank in rankers.items():
        orders[name], milliseconds = {}, []
        for query in queries:
            start = time.process_time()
            ranked = rank(query)["documents"]
            milliseconds.append(1000 * (time.process_time() - start))
            orders[name][query] = [document.id for document in ranked]
        ndcg = rm.evaluate(questions.qrels(pieces), orders[name], f"ndcg@{K}").means[f"ndcg@{K}"]
        diversity = np.mean(
            [rm.intra_list_diversity([vectors[query_] for query_ in row]) for row in orders[name].values()]
        )
        rows.append([name, f"{ndcg:.3f}", f"{diversity:.3f}", f"{np.median(milliseconds):.2f}"])
    for weight in WEIGHTS:
        n_same = sum(
            orders[f"Haystack, MMR at {weight}"][query_] == orders[f"MMRRanker at {weight}"][query_]
            for query_ in queries
        )
        print(f"lambda {weight}: the same documents in the same order for {n_same} of {len(queries)} queries")
    print(f"{K} of {FETCH_K} candidates x {dense.vectors.shape[1]} dimensions; {machine()}\n")
    print(tables.Table(["ranker", f"ndcg@{K}", "diversity", "ms per query"], rows).markdown())


if __name__ == "__main__":
    main()
