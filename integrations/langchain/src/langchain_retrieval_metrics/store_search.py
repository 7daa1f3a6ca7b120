"""Search a vector store by the vector of the query, with the arguments that return enough candidates for MMR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field

from langchain_retrieval_metrics.reranker import DEFAULT_CACHE_SIZE, aquery_vector, query_vector
from langchain_retrieval_metrics.stores import is_instance_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document

# Elasticsearch looks at 50 candidates by default, and refuses to return more than that.
ELASTICSEARCH_CANDIDATES = 50

# FAISS filters what it fetched; its own MMR fetches twice `fetch_k` and keeps what matches.
FAISS_FETCH_FACTOR = 2


class StoreSearch(BaseRetriever):
    """Searches a vector store by the vector of the query, which MMR uses too, so the query is embedded once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: VectorStore
    k: int
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    cache_size: int = DEFAULT_CACHE_SIZE

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        vector = query_vector(self._embeddings(), self.cache_size, query).tolist()
        return self.store.similarity_search_by_vector(vector, **self._search_arguments(k))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        vector = (await aquery_vector(self._embeddings(), self.cache_size, query)).tolist()
        return await self.store.asimilarity_search_by_vector(vector, **self._search_arguments(k))

    def _search_arguments(self, k: int | None) -> dict[str, Any]:
        return {**self.search_kwargs, **candidate_arguments(self.store, self.search_kwargs, k or self.k)}

    def _embeddings(self) -> Any:
        return self.store.embeddings


def can_search_by_vector(store: VectorStore) -> bool:
    """Return whether searching a store by vector gives the same as by text, which sparse vectors do not."""
    has_vector_search = type(store).similarity_search_by_vector is not VectorStore.similarity_search_by_vector
    mode = getattr(store, "retrieval_mode", None)
    return has_vector_search and getattr(mode, "value", mode) in {None, "dense"}


def candidate_arguments(store: VectorStore, search_kwargs: Mapping[str, Any], fetch_k: int) -> dict[str, int]:
    """Return the arguments of the store's search with which it returns `fetch_k` candidates for MMR."""
    if "fetch_k" in search_kwargs:
        return {"k": fetch_k}
    if is_instance_by_name(store, "ElasticsearchStore"):
        return {"k": fetch_k, "fetch_k": max(fetch_k, ELASTICSEARCH_CANDIDATES)}
    if is_instance_by_name(store, "FAISS"):
        n_fetched = FAISS_FETCH_FACTOR * fetch_k
        has_filter = search_kwargs.get("filter") is not None
        return {"k": n_fetched if has_filter else fetch_k, "fetch_k": n_fetched}
    return {"k": fetch_k}


def count_fetched(store: VectorStore, search_kwargs: Mapping[str, Any], arguments: Mapping[str, int]) -> int | None:
    """Return how many documents a store fetches before it filters them; None if it does not filter what it fetched."""
    if search_kwargs.get("filter") is None or not is_instance_by_name(store, "FAISS"):
        return None
    return int({**search_kwargs, **arguments}["fetch_k"])
