"""The base of an MMRRetriever: any retriever, or a vector store searched by the vector of the query."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableBinding, RunnableLambda
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import ConfigDict, Field

from langchain_retrieval_metrics.settings import MMRSettings, aquery_vector, query_vector
from langchain_retrieval_metrics.stores import is_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        return self.store.similarity_search_by_vector(vector, **self._arguments(k))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002  (as above)
        k: int | None = None,
    ) -> list[Document]:
        vector = (await aquery_vector(self._model(), self.cache_size, query)).tolist()
        return await self.store.asimilarity_search_by_vector(vector, **self._arguments(k))

    def _arguments(self, k: int | None) -> dict[str, Any]:
        return {**self.search_kwargs, **_of_search(self.store, self.search_kwargs, k or self.k)}

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


class Request(NamedTuple):
    """How to ask a base retriever.

    Attributes:
        base: The retriever.
        arguments: The arguments of its `invoke`.
        most: How many of its documents are candidates; None takes all.
        told: Whether it was asked for that many itself.
    """

    base: Any
    arguments: dict[str, Any]
    most: int | None
    told: bool


def asked_for(base: Any, fetch_k: int | None, argument: str | None) -> Request:
    """Return how to ask a base retriever for candidates.

    The retriever of a vector store, also configurable or bound, takes `k` with each call. A retriever with a field `k`,
    such as BM25Retriever, is copied, so that the given one stays as it is.

    Args:
        base: The base retriever.
        fetch_k: The number of candidates; None leaves it to the retriever.
        argument: The name of the argument, if it was given.
    """
    if fetch_k is None:
        return Request(base, {}, None, told=False)
    if argument is not None:
        return Request(base, {argument: fetch_k}, fetch_k, told=False)
    inner = base
    while isinstance(inner, (RunnableBinding, DynamicRunnable)):
        inner = inner.bound if isinstance(inner, RunnableBinding) else inner.default
    if isinstance(inner, StoreSearch):
        arguments = _of_search(inner.store, inner.search_kwargs, fetch_k)
        return Request(base, {"k": fetch_k}, arguments["k"], told=True)
    if isinstance(inner, VectorStoreRetriever):
        bound = base.kwargs if isinstance(base, RunnableBinding) else {}
        arguments = _of_search(inner.vectorstore, {**inner.search_kwargs, **bound}, fetch_k)
        return Request(base, arguments, arguments["k"], told=True)
    if isinstance(base, BaseRetriever) and not isinstance(base, MMRSettings):
        field = type(base).model_fields.get("k")
        if field is not None and field.annotation is int:
            return Request(base.model_copy(update={"k": fetch_k}), {}, fetch_k, told=True)
    return Request(base, {}, fetch_k, told=False)


def _of_search(store: VectorStore, given: Mapping[str, Any], fetch_k: int) -> dict[str, int]:
    """Return the arguments with which a store returns the candidates of MMR.

    FAISS filters what it fetched, 20 documents by default; its own MMR fetches twice `fetch_k` and keeps what matches.
    Elasticsearch looks at 50 candidates by default, and refuses to return more than that.
    """
    if is_kind(store, "ElasticsearchStore") and "fetch_k" not in given:
        return {"k": fetch_k, "fetch_k": max(fetch_k, 50)}
    if not is_kind(store, "FAISS") or "fetch_k" in given:
        return {"k": fetch_k}
    return {"k": fetch_k if given.get("filter") is None else 2 * fetch_k, "fetch_k": 2 * fetch_k}
