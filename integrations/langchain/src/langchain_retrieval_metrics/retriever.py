"""MMR around any retriever."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableBinding, RunnableLambda
from langchain_core.runnables.config import RunnableConfig, ensure_config, patch_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import ConfigDict, Field, InstanceOf, PrivateAttr, field_validator, model_validator

from langchain_retrieval_metrics.host import find_n_requested, invoke_runnable
from langchain_retrieval_metrics.reranker import MMRSettings, aquery_vector, query_vector
from langchain_retrieval_metrics.stepping import StageHandler
from langchain_retrieval_metrics.stores import get_vectors, is_instance_by_name, is_supported_store, lookup_arguments
from retrieval_metrics import RetrievalWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun

if TYPE_CHECKING:
    Base: TypeAlias = RetrieverLike | Callable[[str], Any]  # what may be given
else:
    Base = InstanceOf[RetrieverLike]  # what a validator makes of it
FETCH_K = 20
"""The number of candidates fetched from a store by default, as in LangChain."""
_config: ContextVar[RunnableConfig | None] = ContextVar("config of the call", default=None)
"""BaseRetriever passes its callbacks to the method that retrieves, but not the config of the call."""


@contextmanager
def _under(config: RunnableConfig | None) -> Iterator[RunnableConfig]:
    """Keep the config of a call for what is called within."""
    whole = ensure_config(config)
    token = _config.set(whole)
    try:
        yield whole
    finally:
        with suppress(ValueError):  # a task that its loop left behind ends in another context
            _config.reset(token)


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
            does not tell others.
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
        >>> found = [Document(text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> base = lambda query: found
        >>> retriever = MMRRetriever(base_retriever=base, embedding_key="vector", relevance="rank", k=2)
        >>> [document.page_content for document in retriever.invoke("a query")]
        ['a', 'other']
    """

    # BaseRetriever ignores unknown arguments, so a misspelt one would go unnoticed.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    base_retriever: Base
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
        fetch_k: int = FETCH_K,
        lambda_mult: float = 0.5,
        search_kwargs: dict[str, Any] | None = None,
        **settings: Any,
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
        searching = lookup_arguments(store) | (search_kwargs or {})
        if "k" in searching:
            raise ValueError(
                f"search_kwargs has k={searching['k']!r}, but MMR chooses from candidates: pass k=, the number of "
                "documents to return, and fetch_k=, the number of candidates, to from_store"
            )
        given = {"embeddings": store.embeddings} | settings
        embeds = given["embeddings"] is not None and "embeddings" in settings
        if "vector_fn" not in given and "embedding_key" not in given and (is_supported_store(store) or not embeds):
            given["vector_fn"] = get_vectors(store)
        base: Any
        if searched_by_vector(store) and given["embeddings"] is store.embeddings and store.embeddings is not None:
            cached = {"cache_size": settings["cache_size"]} if "cache_size" in settings else {}
            base = StoreSearch(store=store, k=fetch_k, search_kwargs=searching, **cached)
        else:
            base = store.as_retriever(search_kwargs=searching)
        return cls(base_retriever=base, k=k, fetch_k=fetch_k, lambda_mult=lambda_mult, **given)

    @field_validator("base_retriever", mode="before")
    @classmethod
    def _is_retriever(cls, given: Any) -> Any:
        return as_runnable(given)

    @model_validator(mode="after")
    def _has_a_choice(self) -> Self:
        _require_choice(self.k, self.fetch_k)
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
        with _under(config) as whole:
            return super().invoke(input, whole, **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002  (as above)
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the documents that MMR selects for a query; the asynchronous twin of `invoke`."""
        with _under(config) as whole:
            return await super().ainvoke(input, whole, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        k, fetch_k, request = self._asked_for(k, fetch_k, run_manager.handlers)
        config = patch_config(_config.get(), callbacks=run_manager.get_child())
        found = request.base.invoke(query, config, **request.arguments)
        return self._select(self._candidates(found, k, fetch_k, request), query, k, lambda_mult)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        k, fetch_k, request = self._asked_for(k, fetch_k, run_manager.handlers)
        config = patch_config(_config.get(), callbacks=run_manager.get_child())
        found = await request.base.ainvoke(query, config, **request.arguments)
        return await self._aselect(self._candidates(found, k, fetch_k, request), query, k, lambda_mult)

    @property
    def wanted(self) -> int | None:
        """How many documents are wanted of a store; None if fewer are in order, or the base is no store."""
        base = self.base_retriever
        of_store = isinstance(base, StoreSearch) and "score_threshold" not in base.search_kwargs
        return self.k if of_store or find_n_requested(base) is not None else None

    def is_told(self, fetch_k: int | None) -> bool:
        """Whether the base retriever is told how many candidates are wanted, rather than its list cut."""
        request = asked_for(self.base_retriever, fetch_k, self.fetch_k_arg)
        return request.told or bool(request.arguments)

    def candidates(self, query: str, fetch_k: int | None, config: RunnableConfig | None = None) -> list[Document]:
        """Return the candidates of MMR for a query, in the order of the base retriever.

        Raises:
            NotImplementedError: If the base retriever is only asynchronous.
        """
        request = asked_for(self.base_retriever, fetch_k, self.fetch_k_arg)
        found = invoke_runnable(request.base, query, config, **request.arguments)
        return list(self._candidates(found, self.k, fetch_k, request))

    async def acandidates(
        self, query: str, fetch_k: int | None, config: RunnableConfig | None = None
    ) -> list[Document]:
        """Return the candidates of MMR for a query; the asynchronous twin of `candidates`."""
        request = asked_for(self.base_retriever, fetch_k, self.fetch_k_arg)
        found = await request.base.ainvoke(query, config, **request.arguments)
        return list(self._candidates(found, self.k, fetch_k, request))

    def _asked_for(
        self, k: int | None, fetch_k: int | None, handlers: Sequence[Any]
    ) -> tuple[int, int | None, RetrieverRequest]:
        k, fetch_k = self.k if k is None else k, self.fetch_k if fetch_k is None else fetch_k
        _require_choice(k, fetch_k)
        request = asked_for(self.base_retriever, fetch_k, self.fetch_k_arg)
        if any(isinstance(one, StageHandler) for one in handlers):  # an evaluation counts the queries with too few
            request = request._replace(fetched=None)
        return k, fetch_k, request

    def _candidates(self, found: Any, k: int, fetch_k: int | None, request: RetrieverRequest) -> Sequence[Document]:
        if (
            isinstance(found, str)
            or not isinstance(found, Sequence)
            or not all(isinstance(one, Document) for one in found)
        ):
            raise TypeError(f"base_retriever must return a list of Documents, got {found!r:.200}")
        if not self._has_warned and (said := self._too_few(len(found), k, fetch_k, request)):
            self._has_warned = True
            warnings.warn(said, RetrievalWarning, stacklevel=2)
        return found[: request.max_documents]

    def _too_few(self, found: int, k: int, fetch_k: int | None, request: RetrieverRequest) -> str:
        """Return what to say if there are too few documents to choose from; nothing if that is in order."""
        if request.fetched is not None and 0 < found < k:
            return (
                f"FAISS filters the {request.fetched} documents that it fetched, and {found} of them match, fewer than "
                f"k={k}: let it fetch more, search_kwargs={{'filter': ..., 'fetch_k': {10 * request.fetched}}}"
            )
        few = f"the base retriever returned {found} documents, so MMR has nothing to choose from"
        if fetch_k is None and request.own == found <= k:
            return f"{few}, because k={k}: pass fetch_k=, the number of candidates, such as fetch_k={FETCH_K}"
        if request.told or fetch_k is None or not fetch_k > k >= found > 0:
            return ""
        how = "under the name given as fetch_k_arg=" if self.fetch_k_arg is None else f"as {self.fetch_k_arg}="
        return (
            f"{few}, although fetch_k={fetch_k} and k={k}: let it return more, by its own setting or, if it takes "
            f"their number with each call, {how}"
        )


def _require_choice(k: int, fetch_k: int | None) -> None:
    if fetch_k is not None and fetch_k < k:
        raise ValueError(f"fetch_k={fetch_k} candidates cannot give k={k} documents; fetch_k must be at least k")


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
    """Return a function as a Runnable; anything else is returned unchanged."""
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


class RetrieverRequest(NamedTuple):
    """How to ask a base retriever."""

    base: Any
    arguments: dict[str, Any]
    max_documents: int | None
    told: bool
    own: int | None = None
    """How many documents the retriever of a store returns of itself."""
    fetched: int | None = None
    """How many documents a store fetches before it filters them, if it does."""


def asked_for(base: Any, fetch_k: int | None, argument: str | None) -> RetrieverRequest:
    """Return how to ask a base retriever for candidates."""
    # The retriever of a vector store, also configurable or bound, takes `k` with each call. A retriever with a field
    # `k`, such as BM25Retriever, is copied, so that the given one stays as it is.
    if argument is not None and fetch_k is not None:
        return RetrieverRequest(base, {argument: fetch_k}, fetch_k, told=False)
    inner = base
    while isinstance(inner, (RunnableBinding, DynamicRunnable)):
        inner = inner.bound if isinstance(inner, RunnableBinding) else inner.default
    if fetch_k is None:
        own = inner.search_kwargs.get("k", 4) if isinstance(inner, VectorStoreRetriever) else None
        return RetrieverRequest(base, {}, None, told=False, own=own)
    if isinstance(inner, StoreSearch):
        arguments = _of_search(inner.store, inner.search_kwargs, fetch_k)
        fetched = _fetched(inner.store, inner.search_kwargs, arguments)
        return RetrieverRequest(base, {"k": fetch_k}, arguments["k"], told=True, fetched=fetched)
    if isinstance(inner, VectorStoreRetriever):
        bound = base.kwargs if isinstance(base, RunnableBinding) else {}
        given = {**inner.search_kwargs, **bound}
        arguments = _of_search(inner.vectorstore, given, fetch_k)
        fetched = _fetched(inner.vectorstore, given, arguments)
        return RetrieverRequest(base, arguments, arguments["k"], told=True, fetched=fetched)
    if isinstance(base, BaseRetriever) and not isinstance(base, MMRSettings):
        field = type(base).model_fields.get("k")
        if field is not None and field.annotation is int:
            return RetrieverRequest(base.model_copy(update={"k": fetch_k}), {}, fetch_k, told=True)
    return RetrieverRequest(base, {}, fetch_k, told=False)


def _fetched(store: VectorStore, given: Mapping[str, Any], arguments: Mapping[str, int]) -> int | None:
    """Return how many documents a store fetches before it filters them, if it does."""
    if given.get("filter") is None or not is_instance_by_name(store, "FAISS"):
        return None
    return int({**given, **arguments}["fetch_k"])


def _of_search(store: VectorStore, given: Mapping[str, Any], fetch_k: int) -> dict[str, int]:
    """Return the arguments with which a store returns the candidates of MMR."""
    # FAISS filters what it fetched, 20 documents by default; its own MMR fetches twice `fetch_k` and keeps what
    # matches. Elasticsearch looks at 50 candidates by default, and refuses to return more than that.
    if is_instance_by_name(store, "ElasticsearchStore") and "fetch_k" not in given:
        return {"k": fetch_k, "fetch_k": max(fetch_k, 50)}
    if not is_instance_by_name(store, "FAISS") or "fetch_k" in given:
        return {"k": fetch_k}
    return {"k": fetch_k if given.get("filter") is None else 2 * fetch_k, "fetch_k": 2 * fetch_k}
