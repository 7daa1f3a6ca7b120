"""MMR around any retriever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from pydantic import ConfigDict, Field, InstanceOf, model_validator

from langchain_retrieval_metrics.settings import MMRSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun


class MMRRetriever(MMRSettings, BaseRetriever):
    """Retrieves with any retriever and returns what maximal marginal relevance selects from it.

    It works where `search_type="mmr"` does not: around BM25, ensembles, rerankers, web search, any Runnable from a text
    to Documents. Around an InMemoryVectorStore it returns what its `max_marginal_relevance_search` does. `k`, `fetch_k`
    and `lambda_mult` can also be given to one call: `retriever.invoke(query, k=3)`.

    Args:
        base_retriever: The retriever; it has to fetch more than `k` for MMR to have a choice.
        k: How many documents to return; 4 by default.
        fetch_k: Only so many of what the base retriever returns are candidates; None (the default) takes all.
        fetch_k_arg: Under which name `fetch_k` is handed to the base retriever's `invoke` too, for example `"k"` for
            `store.as_retriever()`; None hands over nothing.
        embeddings: Embeds the query, and every document whose vector is not known otherwise, each distinct text once.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance); 0.5 by default.
        relevance: `"query"` (the cosine with the query), `"score"` (the score in the metadata, such as a reranker's,
            scaled to [0, 1] among the candidates) or `"rank"` (their order, from 1 to 0).
        score_key: Where the metadata has the score; by default `relevance_score`, or else `score`.
        embedding_key: Where the metadata has the vector, if it does.
        vector_fn: Gives the vector of each document, or None; for example `in_memory_vectors(store)`.
        mmr_score_key: Where the metadata gets the MMR score, `mmr_score` by default; None leaves it out.
        mmr_rank_key: Where it gets the rank, from 1, `mmr_rank` by default; None leaves it out.
        cache_size: How many vectors of embedded texts are kept in memory, as float32; 10,000 by default.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument is unknown or out of range, `fetch_k` is below `k`,
            or there is nowhere to take vectors from.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> vectors = {"a": [1.0, 0.0], "same": [1.0, 0.0], "other": [0.0, 1.0]}
        >>> found = [Document(text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> base = RunnableLambda(lambda query: found)
        >>> retriever = MMRRetriever(base_retriever=base, embedding_key="vector", relevance="rank", k=2)
        >>> [document.page_content for document in retriever.invoke("a query")]
        ['a', 'other']
    """

    # BaseRetriever's own setting is to ignore unknown arguments, and a misspelt one would go unnoticed.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    base_retriever: InstanceOf[RetrieverLike]
    k: int = Field(default=4, ge=1)
    fetch_k: int | None = Field(default=None, ge=1)
    fetch_k_arg: str | None = None

    @model_validator(mode="after")
    def _has_a_choice(self) -> Self:
        _require_choice(self.k, self.fetch_k)
        if self.fetch_k_arg is not None and self.fetch_k is None:
            raise ValueError(
                f"fetch_k_arg={self.fetch_k_arg!r} hands fetch_k to the base retriever, but fetch_k is not given"
            )
        return self

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        k, fetch_k = self._asked_for(k, fetch_k)
        config: Any = {"callbacks": run_manager.get_child()}
        found = self.base_retriever.invoke(query, config, **self._forwarded(fetch_k))
        return self._select(_candidates(found, fetch_k), query, k, lambda_mult)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        k, fetch_k = self._asked_for(k, fetch_k)
        config: Any = {"callbacks": run_manager.get_child()}
        found = await self.base_retriever.ainvoke(query, config, **self._forwarded(fetch_k))
        return await self._aselect(_candidates(found, fetch_k), query, k, lambda_mult)

    def _asked_for(self, k: int | None, fetch_k: int | None) -> tuple[int, int | None]:
        k, fetch_k = self.k if k is None else k, self.fetch_k if fetch_k is None else fetch_k
        _require_choice(k, fetch_k)
        return k, fetch_k

    def _forwarded(self, fetch_k: int | None) -> dict[str, int]:
        return {} if self.fetch_k_arg is None or fetch_k is None else {self.fetch_k_arg: fetch_k}


def _require_choice(k: int, fetch_k: int | None) -> None:
    if fetch_k is not None and fetch_k < k:
        raise ValueError(f"fetch_k={fetch_k} candidates cannot give k={k} documents; fetch_k must be at least k")


def _candidates(found: Any, fetch_k: int | None) -> Sequence[Document]:
    if not isinstance(found, list) or not all(isinstance(one, Document) for one in found):
        raise TypeError(f"base_retriever must return a list of Documents, got {found!r:.200}")
    return found[:fetch_k]
