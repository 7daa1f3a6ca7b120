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
"""Choose lambda by evidence, then put MMR around two LangChain retrievers: a vector store and BM25.

Run it with `uv run examples/langchain_mmr.py`. It needs no network. Pass the name of a picture, such as `lambda.svg`,
to draw the gain over lambda.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

import questions
import retrieval_metrics as rm
from corpus import Passage, passages
from langchain_retrieval_metrics import MMRRetriever, evaluate_retriever, get_vectors
from retrievers import BM25, Dense

K = 10
FETCH_K = 50
METRICS = ["ndcg@10", "recall@10", "full_recall@10", "alpha_ndcg@10"]


def as_document(passage: Passage) -> Document:
    """Return a passage as a LangChain splitter with `add_start_index=True` would make it."""
    return Document(passage.text, id=passage.id, metadata={"source": passage.topic, "start_index": passage.start})


class LatentSemanticEmbeddings(Embeddings):
    """The vectors of the examples' dense retriever: an embedding model that needs no download."""

    def __init__(self, dense: Dense) -> None:
        """Wrap a dense retriever."""
        self._dense = dense

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        return [float(value) for value in self._dense.encode(text)]


class BM25Retriever(BaseRetriever):
    """Lexical retrieval."""

    index: Any
    documents: dict[str, Document]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return [self.documents[name] for name in self.index.search(query, FETCH_K)]


def store_of(dense: Dense, documents: dict[str, Document]) -> InMemoryVectorStore:
    """Return a vector store of the documents with their existing vectors."""
    store = InMemoryVectorStore(LatentSemanticEmbeddings(dense))
    for name, vector in zip(dense.ids, dense.vectors.tolist(), strict=True):
        document = documents[name]
        store.store[name] = {"id": name, "vector": vector, "text": document.page_content, "metadata": document.metadata}
    return store


def tuned(dense: Dense, dataset: rm.EvaluationSet) -> rm.types.Tuning:
    """Return the choice of lambda over the results of the dense retriever."""
    candidates = {query: list(dense.search(text, FETCH_K)) for query, text in dataset.queries.items()}
    vectors = dict(zip(dense.ids, dense.vectors, strict=True))
    query_vectors = {query: dense.encode(text) for query, text in dataset.queries.items()}

    def reranked(lambda_mult: float) -> dict[Any, list[str]]:
        picks = {
            query: rm.mmr(query_vectors[query], [vectors[name] for name in names], k=K, lambda_mult=lambda_mult)
            for query, names in candidates.items()
        }
        return {query: [candidates[query][position] for position in selection] for query, selection in picks.items()}

    return rm.tune(
        reranked,
        dataset,
        METRICS[0],
        default={"lambda_mult": 1.0},
        parameters={"lambda_mult": [step / 10 for step in range(1, 11)]},
        extra_metrics=METRICS[1:],
    )


def main(picture: Path | None = None) -> rm.types.Tuning:
    """Print and return the choice of lambda, and print the metrics of each retriever with and without MMR."""
    pieces = passages()
    documents = {piece.id: as_document(piece) for piece in pieces}
    dataset = rm.EvaluationSet(questions.queries(), questions.qrels(pieces))
    dense = Dense(pieces)

    choice = tuned(dense, dataset)
    print(f"{len(dataset)} questions, MMR of {K} among the {FETCH_K} nearest passages:\n{choice}\n")
    if picture is not None:
        mpl.rcParams["svg.hashsalt"] = "lambda"  # so the same picture gives the same file
        choice.plot().savefig(picture, metadata={"Date": None} if picture.suffix == ".svg" else {})

    store = store_of(dense, documents)
    bm25 = BM25Retriever(index=BM25(pieces), documents=documents)
    shared: dict[str, Any] = {
        "embeddings": store.embeddings,
        "vector_fn": get_vectors(store),  # take the vectors from the store instead of embedding again
        "k": K,
        "lambda_mult": 0.8,
        "mmr_score_key": "mmr_score",
        "mmr_rank_key": "mmr_rank",
    }
    retrievers: dict[str, BaseRetriever] = {
        "vectors": store.as_retriever(search_kwargs={"k": K}),
        "vectors, MMR": MMRRetriever(base_retriever=store.as_retriever(), fetch_k=FETCH_K, **shared),
        "BM25": bm25,
        "BM25, MMR by rank": MMRRetriever(base_retriever=bm25, relevance="rank", **shared),
    }
    for name, retriever in retrievers.items():
        means = evaluate_retriever(retriever, dataset, METRICS, max_concurrency=2).means
        print(f"{name:18}", "  ".join(f"{metric} {mean:.3f}" for metric, mean in means.items()))

    question = next(iter(dataset.queries.values()))
    print(f"\n{question}")
    for document in retrievers["vectors, MMR"].invoke(question, k=4):
        print(f"  {document.metadata['mmr_rank']}  {document.metadata['mmr_score']:+.3f}  {document.id}")
    return choice


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
