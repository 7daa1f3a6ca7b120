# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "retrieval-metrics-haystack",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# retrieval-metrics-haystack = { path = "../integrations/haystack", editable = true }
# ///
"""Evaluate Haystack pipelines on real questions: BM25, vectors, and vectors reranked by MMR.

Run it with `uv run examples/haystack_evaluation.py`. It reads nothing from the network.
"""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # otherwise Haystack sends usage data to its developers
os.environ["TQDM_DISABLE"] = "1"  # BM25 in memory shows a progress bar otherwise

from haystack import Document, Pipeline, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import questions
import retrieval_metrics as rm
from corpus import Passage, passages
from haystack_integrations.components.evaluators.retrieval_metrics import evaluate_pipeline
from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker
from retrievers import Dense

METRICS = ["ndcg@10", "recall@10", "full_recall@10", "alpha_ndcg@10"]
FETCHED = 50
RANKED = 10


@component
class LatentSemanticEmbedder:
    """The vectors of the examples' dense retriever: a text embedder that needs no download."""

    def __init__(self, dense: Dense) -> None:
        """Wrap a dense retriever."""
        self._dense = dense

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Return the vector of a text."""
        return {"embedding": self._dense.encode(text).tolist()}


def store_of(pieces: list[Passage], dense: Dense) -> InMemoryDocumentStore:
    """Return the passages with their vectors, in a store of Haystack."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    vectors = zip(pieces, dense.vectors.tolist(), strict=True)
    store.write_documents([Document(id=piece.id, content=piece.text, embedding=vector) for piece, vector in vectors])
    return store


def pipelines(store: InMemoryDocumentStore, dense: Dense) -> dict[str, Pipeline]:
    """Return three pipelines, which take the text of a question and return documents."""
    by_words = Pipeline()
    by_words.add_component("retriever", InMemoryBM25Retriever(store, top_k=RANKED))

    by_vectors = Pipeline()
    by_vectors.add_component("embedder", LatentSemanticEmbedder(dense))
    by_vectors.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=RANKED))
    by_vectors.connect("embedder.embedding", "retriever.query_embedding")

    reranked = Pipeline()
    reranked.add_component("embedder", LatentSemanticEmbedder(dense))
    reranked.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=FETCHED, return_embedding=True))
    reranked.add_component("ranker", MMRRanker(top_k=RANKED, lambda_mult=0.9))
    reranked.connect("embedder.embedding", "retriever.query_embedding")
    reranked.connect("embedder.embedding", "ranker.query_embedding")
    reranked.connect("retriever.documents", "ranker.documents")
    return {"BM25": by_words, "vectors": by_vectors, "vectors + MMR": reranked}


def main() -> None:
    """Print a table of the three pipelines, and what the data allow to be said about them."""
    pieces = passages()
    evaluation_set = rm.EvaluationSet(questions.queries(), questions.qrels(pieces))
    dense = Dense(pieces)
    print(f"{len(evaluation_set)} questions with grades and groups, {len(pieces)} passages\n")

    retrievers = pipelines(store_of(pieces, dense), dense)
    print(rm.compare_retrievers(retrievers, evaluation_set, METRICS, baseline="vectors").ranking)

    print("\nWhat MMR makes of the vectors' documents, in one run of the pipeline:\n")
    print(
        rm.compare(
            evaluate_pipeline(retrievers["vectors + MMR"], evaluation_set, METRICS), baseline="retriever"
        ).ranking
    )


if __name__ == "__main__":
    main()
