"""Choose the arguments with which a base retriever is asked for the candidates of MMR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableBinding
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_retrieval_metrics.reranker import MMRSettings
from langchain_retrieval_metrics.retriever_functions import STORE_DEFAULT_K
from langchain_retrieval_metrics.store_search import StoreSearch, candidate_arguments, count_fetched

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRequest:
    """How to ask a base retriever for candidates.

    Attributes:
        retriever: What is invoked with the query.
        k: How many documents MMR selects.
        fetch_k: How many candidates it selects them from; None takes all.
        arguments: The arguments of the call.
        max_documents: How many of the documents are candidates; None takes all.
        is_told: Whether the retriever is told how many documents to return.
        store_k: How many documents the retriever of a store returns by its own setting; None for other retrievers.
        n_fetched: How many documents a store fetches before it filters them; None if it does not.
    """

    retriever: Runnable[str, Any]
    k: int
    fetch_k: int | None
    arguments: dict[str, Any]
    max_documents: int | None = None
    is_told: bool = False
    store_k: int | None = None
    n_fetched: int | None = None


def make_request(
    retriever: Runnable[str, Any], k: int, fetch_k: int | None, fetch_k_arg: str | None
) -> CandidateRequest:
    """Return how to ask a base retriever for candidates."""
    # The retriever of a vector store, also configurable or bound, takes `k` with each call. A retriever with a field
    # `k`, such as BM25Retriever, is copied, so that the original stays as it is.
    inner = _unwrap(retriever)
    if fetch_k is None:
        store_k = None
        if isinstance(inner, VectorStoreRetriever):
            store_k = inner.search_kwargs.get("k", STORE_DEFAULT_K)
        return CandidateRequest(retriever=retriever, k=k, fetch_k=None, arguments={}, store_k=store_k)
    if fetch_k_arg is not None:
        arguments: dict[str, Any] = {fetch_k_arg: fetch_k}
        return CandidateRequest(retriever=retriever, k=k, fetch_k=fetch_k, arguments=arguments, max_documents=fetch_k)
    if isinstance(inner, StoreSearch):
        store_arguments = candidate_arguments(inner.store, inner.search_kwargs, fetch_k)
        return CandidateRequest(
            retriever=retriever,
            k=k,
            fetch_k=fetch_k,
            arguments={"k": fetch_k},
            max_documents=store_arguments["k"],
            is_told=True,
            n_fetched=count_fetched(inner.store, inner.search_kwargs, store_arguments),
        )
    if isinstance(inner, VectorStoreRetriever):
        bound_arguments = retriever.kwargs if isinstance(retriever, RunnableBinding) else {}
        search_kwargs = {**inner.search_kwargs, **bound_arguments}
        store_arguments = candidate_arguments(inner.vectorstore, search_kwargs, fetch_k)
        return CandidateRequest(
            retriever=retriever,
            k=k,
            fetch_k=fetch_k,
            arguments=dict(store_arguments),
            max_documents=store_arguments["k"],
            is_told=True,
            n_fetched=count_fetched(inner.vectorstore, search_kwargs, store_arguments),
        )
    is_told = False
    if _has_k(retriever):
        is_told = True
        retriever = retriever.model_copy(update={"k": fetch_k})
    return CandidateRequest(
        retriever=retriever, k=k, fetch_k=fetch_k, arguments={}, max_documents=fetch_k, is_told=is_told
    )


def _unwrap(retriever: object) -> object:
    """Return the retriever inside bindings and configurable fields."""
    while isinstance(retriever, (RunnableBinding, DynamicRunnable)):
        retriever = retriever.bound if isinstance(retriever, RunnableBinding) else retriever.default
    return retriever


def _has_k(retriever: object) -> TypeGuard[BaseRetriever]:
    """Return whether a retriever has a field `k` for how many documents it returns, as BM25Retriever has."""
    # The `k` of an MMRRetriever is how many documents MMR selects.
    if not isinstance(retriever, BaseRetriever) or isinstance(retriever, MMRSettings):
        return False
    field = type(retriever).model_fields.get("k")
    return field is not None and field.annotation is int
