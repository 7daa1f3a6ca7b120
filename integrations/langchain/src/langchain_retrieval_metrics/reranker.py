"""A document compressor that reranks by maximal marginal relevance, and the settings that MMRRetriever shares."""

from __future__ import annotations

import asyncio
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from langchain_retrieval_metrics.documents import MAX_SHOWN_CHARACTERS, read_score
from langchain_retrieval_metrics.stores import VectorFunction
from langchain_retrieval_metrics.vectors import DocumentVectors, as_vector, get_state_vector
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from langchain_core.callbacks import Callbacks
    from langchain_core.runnables import Runnable

    from langchain_retrieval_metrics.vectors import Vector
    from retrieval_metrics.types import FloatArray


# How many vectors of embedded texts are kept in memory.
DEFAULT_CACHE_SIZE = 10_000


class CandidateVectors(NamedTuple):
    """The vectors of the candidates of a query and of the query itself.

    Attributes:
        documents: The vectors of the candidates, shape (documents, d).
        query: The vector of the query; None if relevance does not need it.
    """

    documents: Vector
    query: Vector | None


class MMRSettings(BaseModel):
    """Settings of MMR for documents, as `MMRReranker` and `MMRRetriever` describe them."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    embeddings: Embeddings | None = None
    k: int | None = Field(default=4, ge=1)
    lambda_mult: float = Field(default=0.5, ge=0, le=1)
    relevance: Literal["query", "score", "rank"] = "query"
    score_key: str | None = None
    embedding_key: str | None = None
    vector_fn: VectorFunction | None = None
    mmr_score_key: str | None = None
    mmr_rank_key: str | None = None
    cache_size: int = Field(default=DEFAULT_CACHE_SIZE, ge=0)

    @field_validator("k", "fetch_k", "lambda_mult", "cache_size", mode="before", check_fields=False)
    @classmethod
    def _require_number(cls, value: Any) -> Any:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, type(None))):
            raise ValueError(f"must be a number, got {value!r}")
        return value

    @model_validator(mode="after")
    def _require_vectors(self) -> Self:
        if self.embeddings is None and self.relevance == "query":
            raise ValueError(
                "relevance='query' needs embeddings for the query; pass embeddings, or relevance='score' or 'rank'"
            )
        if self.embeddings is None and self.embedding_key is None and self.vector_fn is None:
            raise ValueError(
                "MMR compares documents by their vectors: pass embeddings, an embedding_key or a vector_fn"
            )
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a setting; if the new value is refused, nothing changes."""
        values_before = dict(self.__dict__)
        fields_set_before = set(self.model_fields_set)
        try:
            super().__setattr__(name, value)
        except ValidationError:
            # Pydantic sets the value before it checks whether the settings fit together.
            self.__dict__.clear()
            self.__dict__.update(values_before)
            self.__pydantic_fields_set__.clear()
            self.__pydantic_fields_set__.update(fields_set_before)
            raise

    def _select(
        self, documents: Sequence[Document], query: str, k: int | None, lambda_mult: float | None
    ) -> list[Document]:
        """Return the documents that MMR selects, best first, as copies with score and rank."""
        if not documents:
            return []
        return self._rerank(documents, self.find_vectors(documents, query), k, lambda_mult)

    async def _aselect(
        self, documents: Sequence[Document], query: str, k: int | None, lambda_mult: float | None
    ) -> list[Document]:
        """Return the documents that MMR selects; query and documents are embedded concurrently."""
        if not documents:
            return []
        return self._rerank(documents, await self.afind_vectors(documents, query), k, lambda_mult)

    def find_vectors(self, documents: Sequence[Document], query: str) -> CandidateVectors:
        """Return the vectors of the documents and, if needed, of the query."""
        document_vectors = self._find_known_vectors(documents)
        stacked = document_vectors.stack(self._embed_documents(document_vectors))
        query_vector = self._embed_query(query) if self.relevance == "query" else None
        return CandidateVectors(stacked, query_vector)

    async def afind_vectors(self, documents: Sequence[Document], query: str) -> CandidateVectors:
        """Return the vectors of the documents and, if needed, of the query; both are embedded concurrently."""
        # In a thread, because a vector_fn may ask a store.
        document_vectors = await asyncio.to_thread(self._find_known_vectors, documents)
        if self.relevance == "query":
            embedded, query_vector = await asyncio.gather(
                self._aembed_documents(document_vectors), self._aembed_query(query)
            )
        else:
            embedded = await self._aembed_documents(document_vectors)
            query_vector = None
        return CandidateVectors(document_vectors.stack(embedded), query_vector)

    def _rerank(
        self,
        documents: Sequence[Document],
        vectors: CandidateVectors,
        k: int | None,
        lambda_mult: float | None,
    ) -> list[Document]:
        selection = mmr(
            vectors.query,
            vectors.documents,
            k=k,
            lambda_mult=self.lambda_mult if lambda_mult is None else lambda_mult,
            relevance=self.read_relevance(documents),
        )
        reranked = []
        for rank, (index, score) in enumerate(zip(selection, selection.scores.tolist(), strict=True), start=1):
            reranked.append(self._copy_with_marks(documents[index], score, rank))
        return reranked

    def read_relevance(self, documents: Sequence[Document]) -> FloatArray | None:
        """Return the relevance of documents by their scores or ranks; None if MMR takes the cosine with the query."""
        return relevance_by(self.relevance, documents, partial(read_score, key=self.score_key))

    def _copy_with_marks(self, document: Document, score: float, rank: int) -> Document:
        metadata = dict(document.metadata)
        if self.mmr_score_key is not None:
            metadata[self.mmr_score_key] = score
        if self.mmr_rank_key is not None:
            metadata[self.mmr_rank_key] = rank
        return document.model_copy(update={"metadata": metadata})

    def _find_known_vectors(self, documents: Sequence[Document]) -> DocumentVectors:
        """Return the vectors that are known: in the metadata, by `vector_fn`, or in the state, in this order."""
        vectors: list[Any] = [None] * len(documents)
        if self.embedding_key is not None:
            vectors = [document.metadata.get(self.embedding_key) for document in documents]
        if self.vector_fn is not None and any(vector is None for vector in vectors):
            vectors = _fill_in(vectors, _look_up(self.vector_fn, documents))
        return DocumentVectors(documents, _fill_in(vectors, map(get_state_vector, documents)))

    def _embed_documents(self, document_vectors: DocumentVectors) -> dict[str, Vector]:
        if not document_vectors.texts:
            return {}
        model = self._require_model(document_vectors)

        def embed(texts: list[str]) -> list[Vector]:
            return document_vectors.check_embeddings(texts, model.embed_documents(texts))

        return vector_cache(model, self.cache_size).vectors("document", document_vectors.texts, embed)

    async def _aembed_documents(self, document_vectors: DocumentVectors) -> dict[str, Vector]:
        if not document_vectors.texts:
            return {}
        model = self._require_model(document_vectors)

        async def embed(texts: list[str]) -> list[Vector]:
            return document_vectors.check_embeddings(texts, await model.aembed_documents(texts))

        return await vector_cache(model, self.cache_size).avectors("document", document_vectors.texts, embed)

    def _require_model(self, document_vectors: DocumentVectors) -> Embeddings:
        if self.embeddings is None:
            texts = document_vectors.texts
            raise ValueError(
                f"{len(texts)} documents have no vector, for example {texts[0][:MAX_SHOWN_CHARACTERS]!r}; pass "
                "embeddings that can embed them"
            )
        return self.embeddings

    def _embed_query(self, query: str) -> Vector | None:
        return None if self.embeddings is None else query_vector(self.embeddings, self.cache_size, query)

    async def _aembed_query(self, query: str) -> Vector | None:
        return None if self.embeddings is None else await aquery_vector(self.embeddings, self.cache_size, query)


def _look_up(vector_fn: VectorFunction, documents: Sequence[Document]) -> Sequence[Any]:
    """Return the vectors that a `vector_fn` returns for documents; raise if their number differs."""
    vectors = vector_fn(documents)
    if len(vectors) != len(documents):
        raise ValueError(
            f"vector_fn returned {len(vectors)} vectors for {len(documents)} documents; return None for unknown ones"
        )
    return vectors


def _fill_in(vectors: Sequence[Any], replacements: Iterable[Any]) -> list[Any]:
    """Return vectors in which each None is replaced by the vector at the same position of the replacements."""
    filled = []
    for vector, replacement in zip(vectors, replacements, strict=True):
        filled.append(replacement if vector is None else vector)
    return filled


def query_vector(model: Embeddings, cache_size: int, query: str) -> Vector:
    """Return the vector of a query, embedded once."""

    def embed(_: list[str]) -> list[Vector]:
        return [as_vector(model.embed_query(query), "the query")]

    return vector_cache(model, cache_size).vectors("query", [query], embed)[query]


async def aquery_vector(model: Embeddings, cache_size: int, query: str) -> Vector:
    """Return the vector of a query, embedded once; the asynchronous version of `query_vector`."""

    async def embed(_: list[str]) -> list[Vector]:
        return [as_vector(await model.aembed_query(query), "the query")]

    vectors = await vector_cache(model, cache_size).avectors("query", [query], embed)
    return vectors[query]


class MMRReranker(MMRSettings, BaseDocumentCompressor):
    """Reranks documents by maximal marginal relevance: relevant, and unlike those above them.

    The formula, its rules and its source are those of the core's `mmr`, which computes it exactly. It returns copies of
    the documents with the same ids. Documents embedded by a compressor before it (the `embedded_doc` in their state)
    are not embedded again.

    Args:
        embeddings: Embeds the query, and every document without a known vector, each distinct text once.
        k: How many documents to return, 4 by default; None returns all, reranked.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance); 0.5 by default.
        relevance: `"query"` (the cosine with the query), `"score"` (the score in the metadata, such as a reranker's,
            scaled to [0, 1] among the candidates) or `"rank"` (their order, from 1 to 0).
        score_key: The metadata key of the score; by default `relevance_score`, or else `score`.
        embedding_key: The metadata key of the vector, if there is one.
        vector_fn: Returns the vector of each document, or None; for example `get_vectors(store)`.
        mmr_score_key: The metadata key for the MMR score, such as `"mmr_score"`; None (the default) leaves it out.
        mmr_rank_key: The metadata key for the rank, from 1, such as `"mmr_rank"`; None (the default) leaves it out.
        cache_size: How many vectors of embedded texts are kept in memory, as float32, 10,000 by default; shared by all
            rerankers and retrievers with the same embeddings.

    Raises:
        ValueError: (as pydantic's ValidationError) If an argument is unknown or out of range, or there is no source of
            vectors.

    Example:
        >>> reranker = MMRReranker(embedding_key="vector", relevance="rank", k=2)
        >>> vectors = {"a": [1.0, 0.0], "same": [1.0, 0.0], "other": [0.0, 1.0]}
        >>> documents = [Document(text, metadata={"vector": vector}) for text, vector in vectors.items()]
        >>> reranked = reranker.compress_documents(documents, "a query")  # 0.25 - 0.5; 0 - 0
        >>> [document.page_content for document in reranked]
        ['a', 'other']
    """

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
        *,
        k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        """Return the documents that MMR selects, best first.

        Args:
            documents: The candidates; with `relevance="rank"` in the order of their retriever.
            query: The text of the query.
            callbacks: Not used.
            k: How many to return in this call; None takes the setting.
            lambda_mult: The weight of relevance in this call; None takes the setting.

        Raises:
            ValueError: If a document has no vector or no score although it needs one, or vectors differ in length.
        """
        return self._select(documents, query, self.k if k is None else k, lambda_mult)

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
        *,
        k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        """Return the documents that MMR selects; the asynchronous version of `compress_documents`."""
        return await self._aselect(documents, query, self.k if k is None else k, lambda_mult)

    def as_runnable(self) -> Runnable[Mapping[str, Any], list[Document]]:
        """Return a Runnable from `{"query": ..., "documents": ...}` to the reranked documents, for pipelines.

        `k` and `lambda_mult` can be passed to a single call: `runnable.invoke(inputs, k=3)`.

        Example:
            >>> from langchain_core.runnables import RunnablePassthrough
            >>> candidates = [Document(text, metadata={"vector": [1.0]}) for text in ("a", "b")]
            >>> reranker = MMRReranker(embedding_key="vector", relevance="rank", k=1)
            >>> inputs = {"query": RunnablePassthrough(), "documents": lambda query: candidates}
            >>> chain = inputs | reranker.as_runnable()
            >>> [document.page_content for document in chain.invoke("a query")]
            ['a']
        """

        def rerank(inputs: Mapping[str, Any], **settings: Any) -> list[Document]:
            return self.compress_documents(inputs["documents"], inputs["query"], **settings)

        async def arerank(inputs: Mapping[str, Any], **settings: Any) -> list[Document]:
            return await self.acompress_documents(inputs["documents"], inputs["query"], **settings)

        return RunnableLambda(rerank, arerank, name="MMRReranker")
