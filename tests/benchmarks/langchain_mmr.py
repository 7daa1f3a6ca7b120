# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "langchain-retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# langchain-retrieval-metrics = { path = "../../integrations/langchain", editable = true }
# ///
"""What MMR costs end to end in LangChain: plain similarity search against MMR on the same InMemoryVectorStore.

Run it with `uv run tests/benchmarks/langchain_mmr.py`. All ways are called in turn, on one thread, and the medians are
compared within the run. The embedding of the query is a look-up, so that nothing hides what the rest costs.
"""

import statistics
import sys
import time
from collections.abc import Callable

from measure import use_one_thread

use_one_thread()

import numpy as np  # noqa: E402  (after the threads are set)
from langchain_core.documents import Document  # noqa: E402  (as above)
from langchain_core.embeddings import Embeddings  # noqa: E402  (as above)
from langchain_core.vectorstores import InMemoryVectorStore  # noqa: E402  (as above)

from langchain_retrieval_metrics import MMRRetriever, vectors_of  # noqa: E402  (as above)

REPEATS = 40


class Known(Embeddings):
    """Looks vectors up."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]


def ways(n: int, d: int, k: int) -> dict[str, Callable[[], list[Document]]]:
    """Return each way of retrieving k of n documents with vectors of d numbers."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, d))
    vectors = (centres[rng.integers(8, size=n + 1)] + rng.normal(size=(n + 1, d))).tolist()
    embeddings = Known({"query": vectors[0]} | {f"text {at}": vector for at, vector in enumerate(vectors[1:])})
    store = InMemoryVectorStore(embeddings)
    store.add_documents([Document(f"text {at}", id=str(at)) for at in range(n)])
    plain = store.as_retriever(search_kwargs={"k": n})
    settings = {"base_retriever": plain, "embeddings": embeddings, "k": k}
    by_store = MMRRetriever(**settings, vector_fn=vectors_of(store))
    cached = MMRRetriever(**settings)
    theirs = store.as_retriever(search_type="mmr", search_kwargs={"k": k, "fetch_k": n})
    return {
        "similarity search": lambda: plain.invoke("query"),
        "MMRRetriever, vectors of the store": lambda: by_store.invoke("query"),
        "MMRRetriever, cached vectors": lambda: cached.invoke("query"),
        "search_type='mmr'": lambda: theirs.invoke("query"),
    }


def main(n: int = 100, d: int = 1536, k: int = 10) -> None:
    """Print the median of each way, and its ratio to plain similarity search."""
    measured = ways(n, d, k)
    selected = {name: [found.id for found in way()] for name, way in measured.items()}  # also the first, cold call
    assert len({tuple(ids) for name, ids in selected.items() if "imilarity" not in name}) == 1, selected
    seconds: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(REPEATS):
        for name, way in measured.items():
            started = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(f"n={n} d={d} k={k}, median of {REPEATS}, one thread")
    for name, median in medians.items():
        print(f"{name:36} {1000 * median:8.1f} ms  {median / medians['similarity search']:6.2f} x")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
