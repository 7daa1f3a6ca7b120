"""MMR as a document compressor, and the settings that it shares with the retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from langchain_retrieval_metrics.host import read_score
from langchain_retrieval_metrics.vectors import DocumentVectors, as_vector, get_state_vector
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.callbacks import Callbacks
    from langchain_core.runnables import Runnable

    from langchain_retrieval_metrics.vectors import Vector
    from retrieval_metrics.types import FloatArray


class MMRSettings(BaseModel):
    """Settings of MMR for documents, as `MMRReranker` and `MMRRetriever` describe them."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    embeddings: Embeddings | None = None
    k: int | None = Field(default=4, ge=1)
    lambda_mult: float = Field(default=0.5, ge=0, le=1)
    relevance: Literal["query", "score", "rank"] = "query"
    score_key: str | None = None
    embedding_key: str | None = None
    vector_fn: Callable[[Sequence[Document]], Sequence[Any]] | None = None
    mmr_score_key: str | None = None
    mmr_rank_key: str | None = None
    cache_size: int = Field(default=10_000, ge=0)

    @field_validator("k", "fetch_k", "lambda_mult", "cache_size", mode="before", check_fields=False)
    @classmethod
    def _is_number(cls, value: Any) -> Any:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, type(None))):
            raise ValueError(f"must be a number, got {value!r}")  # noqa: TRY004  (pydantic collects ValueErrors)
        return value

    @model_validator(mode="after")
    def _has_vectors(self) -> Self:
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
        """Set a setting; if it is refused, nothing changes."""
        values, given = dict(self.__dict__), set(self.model_fields_set)
        try:
            super().__setattr__(name, value)
        except ValidationError:  # pydantic sets the value before it checks whether the settings fit together
            self.__dict__.clear()
            self.__dict__.update(values)
            self.__pydantic_fields_set__.clear()
            self.__pydantic_fields_set__.update(given)
            raise

    def _select(
        self, documents: Sequence[Document], query: str, k: int | None, lambda_mult: float | None
    ) -> list[Document]:
        """Return the documents that MMR selects, best first, as copies with score and rank."""
        if not documents:
            return []
        vectors, of_query = self._vectors(documents, query)
        return self._selected(documents, vectors, of_query, k, lambda_mult)

    async def _aselect(
        self, documents: Sequence[Document], query: str, k: int | None, lambda_mult: float | None
    ) -> list[Document]:
        """Return the documents that MMR selects; query and documents are embedded concurrently."""
        if not documents:
            return []
        vectors, of_query = await self._avectors(documents, query)
        return self._selected(documents, vectors, of_query, k, lambda_mult)

    def _vectors(self, documents: Sequence[Document], query: str) -> tuple[Vector, Vector | None]:
        """Return the vectors of the documents and, if needed, of the query."""
        wanted = self._wanted(documents)
        vectors = wanted.stacked(self._embed_documents(wanted))
        return vectors, self._embed_query(query) if self.relevance == "query" else None

    async def _avectors(self, documents: Sequence[Document], query: str) -> tuple[Vector, Vector | None]:
        """Return the vectors of the documents and, if needed, of the query; both are embedded concurrently."""
        wanted = await asyncio.to_thread(self._wanted, documents)  # a vector_fn may ask a store
        if self.relevance == "query":
            embedded, of_query = await asyncio.gather(self._aembed_documents(wanted), self._aembed_query(query))
        else:
            embedded, of_query = await self._aembed_documents(wanted), None
        return wanted.stacked(embedded), of_query

    def _selected(
        self,
        documents: Sequence[Document],
        vectors: Vector,
        of_query: Vector | None,
        k: int | None,
        lambda_mult: float | None,
    ) -> list[Document]:
        selection = mmr(
            of_query,
            vectors,
            k=k,
            lambda_mult=self.lambda_mult if lambda_mult is None else lambda_mult,
            relevance=self._relevance(documents),
        )
        scored = zip(selection, selection.scores.tolist(), strict=True)
        return [self._marked(documents[at], score, rank) for rank, (at, score) in enumerate(scored, start=1)]

    def _relevance(self, documents: Sequence[Document]) -> FloatArray | None:
        return relevance_by(self.relevance, documents, partial(read_score, key=self.score_key))

    def _marked(self, document: Document, score: float, rank: int) -> Document:
        marks = {self.mmr_score_key: score, self.mmr_rank_key: rank}
        added = {key: value for key, value in marks.items() if key is not None}
        return document.model_copy(update={"metadata": {**document.metadata, **added}})

    def _wanted(self, documents: Sequence[Document]) -> DocumentVectors:
        known: list[Any] = [None] * len(documents)
        if self.embedding_key is not None:
            known = [document.metadata.get(self.embedding_key) for document in documents]
        if self.vector_fn is not None and any(vector is None for vector in known):
            looked_up = self._looked_up(documents)
            known = [found if one is None else one for one, found in zip(known, looked_up, strict=True)]
        known = [
            get_state_vector(document) if vector is None else vector
            for document, vector in zip(documents, known, strict=True)
        ]
        return DocumentVectors(documents, known)

    def _looked_up(self, documents: Sequence[Document]) -> Sequence[Any]:
        found = self.vector_fn(documents) if self.vector_fn is not None else ()
        if len(found) != len(documents):
            raise ValueError(
                f"vector_fn returned {len(found)} vectors for {len(documents)} documents; return None for unknown ones"
            )
        return found

    def _embed_documents(self, wanted: DocumentVectors) -> dict[str, Vector]:
        if not wanted.texts:
            return {}
        model = self._model(wanted)
        return vector_cache(model, self.cache_size).vectors(
            "document", wanted.texts, lambda texts: wanted.checked(texts, model.embed_documents(texts))
        )

    async def _aembed_documents(self, wanted: DocumentVectors) -> dict[str, Vector]:
        if not wanted.texts:
            return {}
        model = self._model(wanted)

        async def embed(texts: list[str]) -> list[Vector]:
            return wanted.checked(texts, await model.aembed_documents(texts))

        return await vector_cache(model, self.cache_size).avectors("document", wanted.texts, embed)

    def _model(self, wanted: DocumentVectors) -> Embeddings:
        if self.embeddings is None:
            raise ValueError(
                f"{len(wanted.texts)} documents have no vector, for example {wanted.texts[0][:40]!r}; pass embeddings "
                "that can embed them"
            )
        return self.embeddings

    def _embed_query(self, query: str) -> Vector | None:
        return None if self.embeddings is None else query_vector(self.embeddings, self.cache_size, query)

    async def _aembed_query(self, query: str) -> Vector | None:
        return None if self.embeddings is None else await aquery_vector(self.embeddings, self.cache_size, query)


def query_vector(model: Embeddings, cache_size: int, query: str) -> Vector:
    """Return the vector of a query, embedded once."""
    cache = vector_cache(model, cache_size)
    return cache.vectors("query", [query], lambda _: [as_vector(model.embed_query(query), "the query")])[query]


async def aquery_vector(model: Embeddings, cache_size: int, query: str) -> Vector:
    """Return the vector of a query, embedded once; the asynchronous twin of `query_vector`."""

    async def embed(_: list[str]) -> list[Vector]:
        return [as_vector(await model.aembed_query(query), "the query")]

    return (await vector_cache(model, cache_size).avectors("query", [query], embed))[query]


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
        >>> [found.page_content for found in reranker.compress_documents(documents, "a query")]  # 0.25 - 0.5; 0 - 0
        ['a', 'other']
    """

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,  # noqa: ARG002  (the host's signature; embeddings take no callbacks)
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
        callbacks: Callbacks | None = None,  # noqa: ARG002  (as above)
        *,
        k: int | None = None,
        lambda_mult: float | None = None,
    ) -> list[Document]:
        """Return the documents that MMR selects; the asynchronous twin of `compress_documents`."""
        return await self._aselect(documents, query, self.k if k is None else k, lambda_mult)

    def as_runnable(self) -> Runnable[Mapping[str, Any], list[Document]]:
        """Return a Runnable from `{"query": ..., "documents": ...}` to the reranked documents, for pipelines.

        `k` and `lambda_mult` can be passed to a single call: `runnable.invoke(given, k=3)`.

        Example:
            >>> from langchain_core.runnables import RunnablePassthrough
            >>> found = [Document("a", metadata={"vector": [1.0]}), Document("b", metadata={"vector": [1.0]})]
            >>> reranker = MMRReranker(embedding_key="vector", relevance="rank", k=1)
            >>> chain = {"query": RunnablePassthrough(), "documents": lambda query: found} | reranker.as_runnable()
            >>> [document.page_content for document in chain.invoke("a query")]
            ['a']
        """

        def rerank(given: Mapping[str, Any], **settings: Any) -> list[Document]:
            return self.compress_documents(given["documents"], given["query"], **settings)

        async def arerank(given: Mapping[str, Any], **settings: Any) -> list[Document]:
            return await self.acompress_documents(given["documents"], given["query"], **settings)

        return RunnableLambda(rerank, arerank, name="MMRReranker")
