"""The base of an MMRRetriever: any retriever, or a vector store searched by the vector of the query."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableBinding, RunnableLambda
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import ConfigDict, Field

from langchain_retrieval_metrics.settings import aquery_vector, query_vector

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document


class StoreSearch(BaseRetriever):
    """Searches a vector store by the vector of the query, which MMR uses too, so the query is embedded once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: VectorStore
    k: int
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    cache_size: int = 10_000

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  (the host's signature)
        k: int | None = None,
    ) -> list[Document]:
        vector = query_vector(self._model(), self.cache_size, query).tolist()
        return self.store.similarity_search_by_vector(vector, k=k or self.k, **self.search_kwargs)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002  (as above)
        k: int | None = None,
    ) -> list[Document]:
        vector = (await aquery_vector(self._model(), self.cache_size, query)).tolist()
        return await self.store.asimilarity_search_by_vector(vector, k=k or self.k, **self.search_kwargs)

    def _model(self) -> Any:
        return self.store.embeddings


def searched_by_vector(store: VectorStore) -> bool:
    """Whether searching a store by vector equals searching it by text; not with sparse vectors."""
    has_one = type(store).similarity_search_by_vector is not VectorStore.similarity_search_by_vector
    mode = getattr(store, "retrieval_mode", None)
    return has_one and getattr(mode, "value", mode) in {None, "dense"}


def as_runnable(given: Any) -> Any:
    """Return a function as a Runnable; anything else is returned unchanged.

    Raises:
        ValueError: If it is a vector store; the message says what to write.
    """
    if isinstance(given, Runnable):
        return given
    if hasattr(given, "as_retriever"):
        raise ValueError(
            f"{type(given).__name__} is a store, not a retriever: write MMRRetriever.from_store(store), or "
            "base_retriever=store.as_retriever()"
        )
    if inspect.iscoroutinefunction(given):
        return RunnableLambda(_only_asynchronous, afunc=given)
    return RunnableLambda(given) if callable(given) else given


def _only_asynchronous(_: str) -> Any:
    raise TypeError("the base retriever is an asynchronous function; use ainvoke")


def takes_k(base: Any) -> bool:
    """Whether a retriever is that of a vector store, also configurable or bound, and takes `k` with each call."""
    while isinstance(base, (RunnableBinding, DynamicRunnable)):
        base = base.bound if isinstance(base, RunnableBinding) else base.default
    return isinstance(base, (VectorStoreRetriever, StoreSearch))
