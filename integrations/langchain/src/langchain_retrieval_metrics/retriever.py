"""A retriever that reranks the documents of any other retriever by maximal marginal relevance."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeAlias, TypedDict, Unpack, cast

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.config import RunnableConfig, ensure_config, patch_config
from pydantic import ConfigDict, Field, InstanceOf, PrivateAttr, field_validator, model_validator

from langchain_retrieval_metrics.candidate_request import CandidateRequest, make_request
from langchain_retrieval_metrics.reranker import DEFAULT_CACHE_SIZE, MMRSettings
from langchain_retrieval_metrics.retriever_functions import find_n_requested, invoke_runnable
from langchain_retrieval_metrics.stage_recording import StageHandler
from langchain_retrieval_metrics.store_search import StoreSearch, can_search_by_vector
from langchain_retrieval_metrics.stores import get_vectors, is_supported_store, lookup_arguments
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        BaseCallbackHandler,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore

    from langchain_retrieval_metrics.stores import VectorFunction

if TYPE_CHECKING:
    # The type of the argument, for type checkers.
    BaseRetrieverLike: TypeAlias = RetrieverLike | Callable[[str], Any]
else:
    # The type that pydantic checks, after a validator has wrapped a function.
    BaseRetrieverLike = InstanceOf[RetrieverLike]

# The number of candidates fetched from a store by default, as in LangChain.
DEFAULT_FETCH_K = 20

# BaseRetriever passes its callbacks to the method that retrieves, but not the config of the call.
_call_config: ContextVar[RunnableConfig | None] = ContextVar("config of the call", default=None)


class MMROptions(TypedDict, total=False):
    """Settings of `MMRRetriever` for vectors, relevance and the metadata of its documents."""

    embeddings: Embeddings | None
    relevance: Literal["query", "score", "rank"]
    score_key: str | None
    embedding_key: str | None
    vector_fn: VectorFunction | None
    mmr_score_key: str | None
    mmr_rank_key: str | None
    cache_size: int
    fetch_k_arg: str | None
    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class RetrieverOptions(MMROptions, total=False):
    """Settings of `MMRRetriever`, except its base retriever."""

    k: int
    fetch_k: int | None
    lambda_mult: float


@contextmanager
def _keep_config(config: RunnableConfig | None) -> Iterator[RunnableConfig]:
    """Keep the config of a call for what is called within."""
    full_config = ensure_config(config)
    token = _call_config.set(full_config)
    try:
        yield full_config
    finally:
        with suppress(ValueError):  # a task that its loop left behind ends in another context
            _call_config.reset(token)


class MMRRetriever(MMRSettings, BaseRetriever):
    """Retrieves with any retriever and returns what maximal marginal relevance selects from it.

    It works where `search_type="mmr"` does not: with BM25, ensembles, rerankers, web search, and any Runnable from a
    text to Documents. With an InMemoryVectorStore it returns the same as its `max_marginal_relevance_search`. `k`,
    `fetch_k` and `lambda_mult` can also be passed to a single call: `retriever.invoke(query, k=3)`. The config of a
    call (configurable fields, tags, metadata, concurrency) is passed to the base retriever. For a vector store, use
    `from_store`.

    Args:
        base_retriever: The retriever, or a function of the query. It must return more than `k` documents, so that MMR
            can choose.
        k: How many documents to return; 4 by default.
        fetch_k: The number of candidates among the documents of the base retriever; None (the default) takes all.
        fetch_k_arg: The argument of the base retriever's `invoke` that receives `fetch_k`. None passes it as `k` to
            `store.as_retriever()`, sets it as `k` on a copy of retrievers that have such a field (BM25Retriever), and
            does not pass it to others.
        embeddings: Embeds the query, and every document without a known vector, each distinct text once.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance); 0.5 by default.
        relevance: `"query"` (the cosine with the query), `"score"` (the score in the metadata, such as a reranker's,
            scaled to [0, 1] among the candidates) or `"rank"` (their order, from 1 to 0).
        score_key: The metadata key of the score; by default `relevance_score`, or else `score`.
        embedding_key: The metadata key of the vector, if there is one.
        vector_fn: Returns the vector of each document, or None; for example `get_vectors(store)`.
        mmr_score_key: The metadata key for the MMR score, such as `"mmr_score"`; None (the default) leaves it out,
            because MultiQueryRetriever and others compare whole documents.
        mmr_rank_key: The metadata key for the rank, from 1, such as `"mmr_rank"`; None (the default) leaves it out.
        cache_size: How many vectors of embedded texts are kept in memory, as float32, 10,000 by default; shared by all
            retrievers with the same embeddings.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument is unknown or out of range, `fetch_k` is below `k`,
            or there is no source of vectors.

    Warns:
        RetrievalWarning: (once) If the base retriever returns no more than `k` documents, or a filter of FAISS leaves
            fewer, because it filters what it fetched.

    Example:
        >>> vectors = {"a": [1.0, 0.0], "same": [1.0, 0.0], "other": [0.0, 1.0]}
        >>> documents = [Document(text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> base = lambda query: documents
        >>> retriever = MMRRetriever(base_retriever=base, embedding_key="vector", relevance="rank", k=2)
        >>> [document.page_content for document in retriever.invoke("a query")]
        ['a', 'other']
    """

    # BaseRetriever ignores unknown arguments, so a misspelt one would go unnoticed.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    base_retriever: BaseRetrieverLike
    k: int = Field(default=4, ge=1)
    fetch_k: int | None = Field(default=None, ge=1)
    fetch_k_arg: str | None = None

    _has_warned: bool = PrivateAttr(default=False)

    @classmethod
    def from_store(
        cls,
        store: VectorStore,
        *,
        k: int = 4,
        fetch_k: int = DEFAULT_FETCH_K,
        lambda_mult: float = 0.5,
        search_kwargs: dict[str, Any] | None = None,
        **settings: Unpack[MMROptions],
    ) -> Self:
        """Return a retriever over a vector store that embeds each query once and no documents.

        Args:
            store: A store that `get_vectors` supports; or another, with `vector_fn=` or `embeddings=` in the settings.
                With `embeddings=`, its documents are embedded, each text once.
            k: How many documents to return.
            fetch_k: The number of candidates.
            lambda_mult: The weight of relevance.
            search_kwargs: Further arguments of the store's search, such as a filter; not `k`, which is `fetch_k` here.
            **settings: Other settings of the retriever.

        Raises:
            TypeError: If the store is of an unknown class, and there is neither `vector_fn` nor `embeddings`.
            ValueError: If `search_kwargs` has a `k`, or (as pydantic's ValidationError) as for the constructor.

        Example:
            >>> from langchain_core.embeddings import DeterministicFakeEmbedding
            >>> from langchain_core.vectorstores import InMemoryVectorStore
            >>> store = InMemoryVectorStore.from_texts(["a", "b", "c"], DeterministicFakeEmbedding(size=3))
            >>> len(MMRRetriever.from_store(store, k=2).invoke("a query"))
            2
        """
        if isinstance(store, BaseRetriever):
            raise TypeError(
                f"from_store takes a vector store, got a {type(store).__name__}; write "
                "from_store(retriever.vectorstore), or MMRRetriever(base_retriever=retriever, embeddings=embeddings)"
            )
        search_arguments = lookup_arguments(store) | (search_kwargs or {})
        if "k" in search_arguments:
            raise ValueError(
                f"search_kwargs has k={search_arguments['k']!r}, but MMR chooses from candidates: pass k=, the number "
                "of documents to return, and fetch_k=, the number of candidates, to from_store"
            )
        embeddings = settings.get("embeddings", store.embeddings)
        retriever_settings: MMROptions = {**settings, "embeddings": embeddings}
        has_vector_source = "vector_fn" in settings or "embedding_key" in settings
        can_embed_documents = embeddings is not None and "embeddings" in settings
        if not has_vector_source and (is_supported_store(store) or not can_embed_documents):
            retriever_settings["vector_fn"] = get_vectors(store)
        base: BaseRetriever
        if embeddings is not None and embeddings is store.embeddings and can_search_by_vector(store):
            cache_size = settings.get("cache_size", DEFAULT_CACHE_SIZE)
            base = StoreSearch(store=store, k=fetch_k, search_kwargs=search_arguments, cache_size=cache_size)
        else:
            base = store.as_retriever(search_kwargs=search_arguments)
        return cls(base_retriever=base, k=k, fetch_k=fetch_k, lambda_mult=lambda_mult, **retriever_settings)

    @field_validator("base_retriever", mode="before")
    @classmethod
    def _wrap_function(cls, retriever: Any) -> Any:
        return as_runnable(retriever)

    @model_validator(mode="after")
    def _require_choice(self) -> Self:
        _require_enough_candidates(self.k, self.fetch_k)
        if self.fetch_k_arg is not None and self.fetch_k is None:
            raise ValueError(
                f"fetch_k_arg={self.fetch_k_arg!r} passes fetch_k to the base retriever, but fetch_k is not set"
            )
        return self

    def invoke(
        self,
        input: str,  # noqa: A002  (the host's name)
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the documents that MMR selects for a query, best first."""
        with _keep_config(config) as full_config:
            return super().invoke(input, full_config, **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002  (as above)
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the documents that MMR selects for a query; the asynchronous version of `invoke`."""
        with _keep_config(config) as full_config:
            return await super().ainvoke(input, full_config, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        request = self._make_call_request(k, fetch_k, run_manager.handlers)
        config = patch_config(_call_config.get(), callbacks=run_manager.get_child())
        documents = request.retriever.invoke(query, config, **request.arguments)
        return self._select(self._cut_candidates(documents, request), query, request.k, lambda_mult)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        request = self._make_call_request(k, fetch_k, run_manager.handlers)
        config = patch_config(_call_config.get(), callbacks=run_manager.get_child())
        documents = await request.retriever.ainvoke(query, config, **request.arguments)
        return await self._aselect(self._cut_candidates(documents, request), query, request.k, lambda_mult)

    @property
    def n_requested(self) -> int | None:
        """How many documents a store should return; None if it may return fewer, or the base is no store."""
        base = self.base_retriever
        if isinstance(base, StoreSearch):
            return None if "score_threshold" in base.search_kwargs else self.k
        return None if find_n_requested(base) is None else self.k

    def passes_fetch_k(self, fetch_k: int | None) -> bool:
        """Return whether the base retriever is told how many candidates to return; otherwise its list is cut."""
        request = self._make_request(self.k, fetch_k)
        return request.is_told or bool(request.arguments)

    def candidates(self, query: str, fetch_k: int | None, config: RunnableConfig | None = None) -> list[Document]:
        """Return the candidates of MMR for a query, in the order of the base retriever.

        Raises:
            NotImplementedError: If the base retriever is only asynchronous.
        """
        request = self._make_request(self.k, fetch_k)
        documents = invoke_runnable(request.retriever, query, config, **request.arguments)
        return list(self._cut_candidates(documents, request))

    async def acandidates(
        self, query: str, fetch_k: int | None, config: RunnableConfig | None = None
    ) -> list[Document]:
        """Return the candidates of MMR for a query; the asynchronous version of `candidates`."""
        request = self._make_request(self.k, fetch_k)
        documents = await request.retriever.ainvoke(query, config, **request.arguments)
        return list(self._cut_candidates(documents, request))

    def _make_request(self, k: int, fetch_k: int | None) -> CandidateRequest:
        base = cast("Runnable[str, Any]", self.base_retriever)  # functions were wrapped when it was set
        return make_request(base, k, fetch_k, self.fetch_k_arg)

    def _make_call_request(
        self, k: int | None, fetch_k: int | None, handlers: Sequence[BaseCallbackHandler]
    ) -> CandidateRequest:
        """Return the request of one call, whose arguments replace the settings."""
        if k is None:
            k = self.k
        if fetch_k is None:
            fetch_k = self.fetch_k
        _require_enough_candidates(k, fetch_k)
        request = self._make_request(k, fetch_k)
        # An evaluation counts the queries with too few documents itself.
        if any(isinstance(handler, StageHandler) for handler in handlers):
            request = replace(request, n_fetched=None)
        return request

    def _cut_candidates(self, documents: Any, request: CandidateRequest) -> Sequence[Document]:
        """Return the candidates among the documents of the base retriever, and warn once if they are too few."""
        _require_documents(documents)
        if not self._has_warned:
            too_few_note = self._too_few_note(len(documents), request)
            if too_few_note:
                self._has_warned = True
                warn(too_few_note, host="langchain_core")
        candidates: Sequence[Document] = documents[: request.max_documents]
        return candidates

    def _too_few_note(self, n_documents: int, request: CandidateRequest) -> str:
        """Return the text of the warning if there are too few documents to choose from; "" if there are enough."""
        k = request.k
        fetch_k = request.fetch_k
        if request.n_fetched is not None and n_documents < k:
            return (
                f"FAISS filters the {request.n_fetched} documents that it fetched, and {n_documents} of them match, "
                f"fewer than k={k}: let it fetch more, search_kwargs={{'filter': ..., 'fetch_k': "
                f"{10 * request.n_fetched}}}"
            )
        no_choice = f"the base retriever returned {n_documents} documents, so MMR has nothing to choose from"
        if fetch_k is None and request.store_k == n_documents <= k:
            return (
                f"{no_choice}, because k={k}: pass fetch_k=, the number of candidates, such as "
                f"fetch_k={DEFAULT_FETCH_K}"
            )
        should_have_returned_more = fetch_k is not None and fetch_k > k >= n_documents > 0
        if request.is_told or not should_have_returned_more:
            return ""
        argument = "the argument named in fetch_k_arg="
        if self.fetch_k_arg is not None:
            argument = f"{self.fetch_k_arg}="
        return (
            f"{no_choice}, although fetch_k={fetch_k} and k={k}: let it return more, by its own setting or, if each "
            f"call can set the number, by {argument}"
        )


def _require_enough_candidates(k: int, fetch_k: int | None) -> None:
    if fetch_k is not None and fetch_k < k:
        raise ValueError(f"fetch_k={fetch_k} candidates cannot give k={k} documents; fetch_k must be at least k")


def _require_documents(documents: Any) -> None:
    is_sequence = isinstance(documents, Sequence) and not isinstance(documents, str)
    if not is_sequence or not all(isinstance(document, Document) for document in documents):
        raise TypeError(f"base_retriever must return a list of Documents, got {documents!r:.200}")


def as_runnable(retriever: object) -> object:
    """Return a function as a Runnable, and anything but a store unchanged."""
    if isinstance(retriever, Runnable):
        return retriever
    if hasattr(retriever, "as_retriever"):
        raise ValueError(
            f"{type(retriever).__name__} is a store, not a retriever: write MMRRetriever.from_store(store), or "
            "base_retriever=store.as_retriever()"
        )
    if inspect.iscoroutinefunction(retriever):
        return RunnableLambda(_refuse_sync_call, afunc=retriever)
    if callable(retriever):
        return RunnableLambda(retriever)
    return retriever


def _refuse_sync_call(_: str) -> NoReturn:
    raise TypeError("the base retriever is an asynchronous function; use ainvoke")
