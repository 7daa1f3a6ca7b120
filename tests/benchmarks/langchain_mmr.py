# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "langchain-retrieval-metrics",
#   "langchain-community>=0.4",
#   "faiss-cpu>=1.8",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# langchain-retrieval-metrics = { path = "../../integrations/langchain", editable = true }
# ///
"""What MMR costs end to end in LangChain: plain search, the store's own MMR, and ours, for stores of several sizes.

Run it with `uv run tests/benchmarks/langchain_mmr.py`, or with the sizes as arguments. All ways are called in turn, on
one thread, and the medians are compared within the run. The embedding of the query is a look-up, so that nothing hides
what the rest costs, and every call has a query of its own.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from measure import use_one_thread

use_one_thread()

import faiss
import numpy as np
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_retrieval_metrics import MMRRetriever

SIZES = {100: 40, 2_000: 40, 50_000: 4}
"""Documents in the store, and how often each way is called."""
D = 768
K = 10
FETCH_K = 100


class Known(Embeddings):
    """Looks vectors up."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]


def stores(n: int, queries: int) -> dict[str, Any]:
    """Return stores of n documents whose vectors lie in eight clusters."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, D))
    vectors = (centres[rng.integers(8, size=n)] + rng.normal(size=(n, D))).astype(np.float32)
    query_vectors = centres[rng.integers(8, size=queries)] + rng.normal(size=(queries, D))
    embeddings = Known({f"query {number}": vector for number, vector in enumerate(query_vectors.tolist())})
    documents = [Document(f"text {number}", id=str(number)) for number in range(n)]
    in_memory = InMemoryVectorStore(embeddings)
    for document, vector in zip(documents, vectors.tolist(), strict=True):
        in_memory.store[str(document.id)] = {
            "id": document.id,
            "vector": vector,
            "text": document.page_content,
            "metadata": {},
        }
    index = faiss.IndexFlatL2(D)
    index.add(vectors)
    names = {number: str(number) for number in range(n)}
    docstore = InMemoryDocstore({str(document.id): document for document in documents})
    return {"InMemoryVectorStore": in_memory, "FAISS": FAISS(embeddings, index, docstore, names)}


def ways(store: Any) -> dict[str, Callable[[str], list[Document]]]:
    """Return each way of retrieving from a store."""
    ours = MMRRetriever.from_store(store, k=K, fetch_k=FETCH_K)
    return {
        "plain search": store.as_retriever(search_kwargs={"k": FETCH_K}).invoke,
        "search_type='mmr'": store.as_retriever(search_type="mmr", search_kwargs={"k": K, "fetch_k": FETCH_K}).invoke,
        "MMRRetriever.from_store": ours.invoke,
    }


def measured(store: Any, repeats: int) -> dict[str, float]:
    """Return the median seconds of each way."""
    called = ways(store)
    seconds: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):
        documents = {}
        for name, way in called.items():
            started = time.perf_counter()
            documents[name] = [document.id for document in way(f"query {repeat}")]
            if repeat:  # the first call is cold
                seconds.setdefault(name, []).append(time.perf_counter() - started)
        assert documents["search_type='mmr'"] == documents["MMRRetriever.from_store"], documents
    return {name: statistics.median(times) for name, times in seconds.items()}


def main(*sizes: int) -> None:
    """Print the median of each way, and its ratios to plain search and to the store's own MMR."""
    for n in sizes or SIZES:
        repeats = SIZES.get(n, 10)
        for name, store in stores(n, repeats + 1).items():
            medians = measured(store, repeats)
            print(f"{name} of {n} documents, d={D}, k={K}, fetch_k={FETCH_K}, median of {repeats}, one thread")
            for way, median in medians.items():
                plain, own = (median / medians[other] for other in ("plain search", "search_type='mmr'"))
                print(f"  {way:26} {1000 * median:9.2f} ms  {plain:6.2f} x plain  {own:6.2f} x own MMR")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
