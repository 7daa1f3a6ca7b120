"""A ranker that orders the documents of any retriever by maximal marginal relevance."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from haystack import Document, component, default_from_dict, default_to_dict
from haystack.components.embedders.types import DocumentEmbedder, TextEmbedder
from haystack.core.serialization import component_to_dict
from numpy.typing import NDArray

from haystack_integrations.components.evaluators.retrieval_metrics.documents import describe_document
from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import run_async
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache
from retrieval_metrics.integration_api.async_support import forward_arguments, positive_integer, takes_arguments_of

Relevance = Literal["query", "score", "rank"]
Vector: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class RankingTask:
    """The candidates of a call, and what has to be embedded.

    Attributes:
        candidates: The documents, one per id.
        without_embedding: The candidates that have no embedding, by `_embedding_key`.
        query: The query to embed; None if its vector was passed, or is not needed.
        query_embedding: The vector of the query, if it was passed.
        top_k: How many to return.
        lambda_mult: The weight of relevance.
    """

    candidates: list[Document]
    without_embedding: dict[str, Document]
    query: str | None
    query_embedding: list[float] | None
    top_k: int | None
    lambda_mult: float


@component
class MMRRanker:
    """Orders documents by relevance and diversity: each is relevant and unlike those before it.

    The next document is the one with the largest `lambda_mult * relevance - (1 - lambda_mult) * largest similarity to
    those already chosen` (Carbonell and Goldstein 1998; see `retrieval_metrics.mmr`, which computes it exactly). The
    documents and their scores are not changed. It can only choose among the retrieved documents, so retrieve more than
    `top_k`. Of documents with the same id, the one with the highest score is kept, as in Haystack's own rankers.

    Example:
        >>> vectors = {"a": [1.0, 0.0], "again a": [1.0, 0.0], "b": [0.6, 0.8]}
        >>> documents = [Document(content=text, embedding=vector) for text, vector in vectors.items()]
        >>> outputs = MMRRanker(top_k=2).run(documents=documents, query_embedding=[0.9, 0.1])
        >>> [document.content for document in outputs["documents"]]
        ['a', 'b']
    """

    def __init__(
        self,
        text_embedder: TextEmbedder | None = None,
        document_embedder: DocumentEmbedder | None = None,
        *,
        top_k: int | None = 10,
        lambda_mult: float = 0.5,
        relevance: Relevance = "query",
    ) -> None:
        """Create the ranker.

        Args:
            text_embedder: Embeds the query if there is no `query_embedding`.
            document_embedder: Embeds the documents that have no embedding. With `return_embedding=True`, retrievers
                return the embeddings of the store, and no document is embedded.
            top_k: How many documents to return; None returns all, in the order of MMR.
            lambda_mult: The weight of relevance, from 0 (diversity alone, after the most relevant document) to 1.
            relevance: `"query"` (the cosine of query and document), `"score"` (the score of the document, such as a
                reranker's, scaled to [0, 1] among the candidates) or `"rank"` (their order, from 1 to 0: for BM25 and
                joined lists). The last two need no embedding of the query.

        Raises:
            ValueError: If a setting is out of range.
        """
        if relevance not in get_args(Relevance):
            raise ValueError(f"relevance must be one of {', '.join(map(repr, get_args(Relevance)))}, got {relevance!r}")
        self.text_embedder = text_embedder
        self.document_embedder = document_embedder
        if top_k is not None:
            positive_integer(top_k, "top_k", or_none=True)
        mmr(None, [[1.0]], relevance=[1.0], lambda_mult=lambda_mult)  # refuses a weight outside [0, 1]
        self.top_k = top_k
        self.lambda_mult = lambda_mult
        self.relevance = relevance

    def warm_up(self) -> None:
        """Load the models of the embedders."""
        embedders: list[Any] = [self.text_embedder, self.document_embedder]
        for embedder in embedders:
            if hasattr(embedder, "warm_up"):
                embedder.warm_up()

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dictionary, for saving a pipeline."""
        text_embedder = None
        if self.text_embedder is not None:
            text_embedder = component_to_dict(self.text_embedder, "text_embedder")
        document_embedder = None
        if self.document_embedder is not None:
            document_embedder = component_to_dict(self.document_embedder, "document_embedder")
        return default_to_dict(
            self,
            text_embedder=text_embedder,
            document_embedder=document_embedder,
            top_k=self.top_k,
            lambda_mult=self.lambda_mult,
            relevance=self.relevance,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the component from the result of `to_dict`."""
        return default_from_dict(cls, data)

    def _prepare(
        self,
        documents: list[Document],
        query: str | None = None,
        query_embedding: list[float] | None = None,
        top_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> RankingTask:
        """Return the candidates, and what has to be embedded."""
        candidates = _best_per_id(documents)
        without_embedding: dict[str, Document] = {}
        for document in candidates:
            if document.embedding is None:
                without_embedding[_embedding_key(document)] = document
        if without_embedding and self.document_embedder is None:
            first_document = next(iter(without_embedding.values()))
            raise ValueError(
                f"{describe_document(first_document)}, has no embedding, nor have {len(without_embedding) - 1} "
                "others; let the retriever return them, InMemoryEmbeddingRetriever(..., return_embedding=True), or "
                "pass a document_embedder"
            )
        needs_query = bool(candidates) and self.relevance == "query" and query_embedding is None
        if needs_query and (query is None or self.text_embedder is None):
            raise ValueError(
                "relevance='query' needs a query_embedding, or a query and a text_embedder; or choose "
                "relevance='score' or 'rank'"
            )
        return RankingTask(
            candidates,
            without_embedding,
            query=query if needs_query else None,
            query_embedding=query_embedding,
            top_k=self.top_k if top_k is None else top_k,
            lambda_mult=self.lambda_mult if lambda_mult is None else lambda_mult,
        )

    @component.output_types(documents=list[Document])
    @takes_arguments_of(_prepare)
    def run(self, *args: Any, **inputs: Any) -> dict[str, list[Document]]:
        """Rank documents by MMR.

        Args:
            documents: The candidates; with `relevance="rank"` in the order of their retriever.
            query: The text of the query, embedded if there is no `query_embedding`.
            query_embedding: The vector of the query, such as from a text embedder in the pipeline.
            top_k: How many to return in this call; None takes the setting.
            lambda_mult: The weight of relevance in this call; None takes the setting.

        Returns:
            `documents`, the chosen ones, best first.

        Raises:
            ValueError: If a required embedding or score is missing or not finite, or embeddings differ in length.
        """
        task = forward_arguments("run", self._prepare, args, inputs)
        embedder: Any = self.document_embedder

        def embed(texts: list[str]) -> list[Vector]:
            documents = [task.without_embedding[text] for text in texts]
            return _read_vectors(documents, embedder.run(documents=documents))

        vectors: Mapping[str, Vector] = {}
        if task.without_embedding:
            vectors = vector_cache(embedder).vectors("document", [*task.without_embedding], embed)
        query_embedding = task.query_embedding
        if task.query is not None and self.text_embedder is not None:
            query_embedding = self.text_embedder.run(text=task.query)["embedding"]
        return {"documents": self._rank(task, vectors, query_embedding)}

    @component.output_types(documents=list[Document])
    @takes_arguments_of(_prepare)
    async def run_async(self, *args: Any, **inputs: Any) -> dict[str, list[Document]]:
        """Rank documents by MMR; the asynchronous version of `run`, which embeds query and documents concurrently."""
        task = forward_arguments("run_async", self._prepare, args, inputs)

        document_embedder: Any = self.document_embedder
        text_embedder: Any = self.text_embedder

        async def embed(texts: list[str]) -> list[Vector]:
            documents = [task.without_embedding[text] for text in texts]
            return _read_vectors(documents, await run_async(document_embedder, documents=documents))

        async def embed_documents() -> Mapping[str, Vector]:
            if not task.without_embedding:
                return {}
            return await vector_cache(document_embedder).avectors("document", [*task.without_embedding], embed)

        async def embed_query() -> list[float] | None:
            if task.query is None:
                return task.query_embedding
            embedding: list[float] = (await run_async(text_embedder, text=task.query))["embedding"]
            return embedding

        vectors, query_embedding = await asyncio.gather(embed_documents(), embed_query())
        return {"documents": self._rank(task, vectors, query_embedding)}

    def _rank(
        self, task: RankingTask, new_vectors: Mapping[str, Vector], query_embedding: list[float] | None
    ) -> list[Document]:
        documents = task.candidates
        if not documents:
            return []
        vectors: list[Vector | list[float]] = []
        for document in documents:
            if document.embedding is None:
                vectors.append(new_vectors[_embedding_key(document)])
            else:
                vectors.append(document.embedding)
        selection = mmr(
            query_embedding if self.relevance == "query" else None,
            _stack_vectors(documents, vectors),
            k=task.top_k,
            lambda_mult=task.lambda_mult,
            relevance=relevance_by(self.relevance, documents, _require_score),
        )
        return [documents[index] for index in selection]


def _embedding_key(document: Document) -> str:
    """Return a key of everything that an embedder may read of a document."""
    return f"{document.content}\0{document.meta}\0{document.blob}"


def _read_vectors(documents: Sequence[Document], outputs: Mapping[str, Any]) -> list[Vector]:
    """Return the vectors of these documents in the outputs of an embedder."""
    embedding_by_id = {document.id: document.embedding for document in outputs["documents"]}
    embeddings = []
    for document in documents:
        embedding = embedding_by_id.get(document.id)
        if not embedding:
            raise ValueError(
                f"the document_embedder returned no embedding of {describe_document(document)}, but {embedding!r}"
            )
        embeddings.append(embedding)
    return [np.asarray(embedding, dtype=np.float64) for embedding in embeddings]


def _best_per_id(documents: Sequence[Document]) -> list[Document]:
    """Return one document per id: the one with the highest score, at the position of the first with that id."""
    best_by_id: dict[str, Document] = {}
    for document in documents:
        best = best_by_id.setdefault(document.id, document)
        if document.score is not None and (best.score is None or document.score > best.score):
            best_by_id[document.id] = document
    return list(best_by_id.values())


def _stack_vectors(documents: Sequence[Document], vectors: Sequence[Vector | list[float]]) -> Vector:
    """Return the vectors as rows; raise if they differ in length, or one is not finite."""
    for document, vector in zip(documents, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"{describe_document(document)}, has an embedding of {len(vector)} numbers, and "
                f"{describe_document(documents[0])}, one of {len(vectors[0])}; all must come from one model"
            )
    stacked: Vector = np.array(vectors, dtype=np.float64)
    for document, vector, row in zip(documents, vectors, stacked, strict=True):
        if not np.isfinite(row).all():
            raise ValueError(
                f"the embedding of {describe_document(document)}, must hold finite numbers, got {vector!r:.80}"
            )
    return stacked


def _require_score(document: Document) -> float:
    if document.score is None or not isfinite(document.score):
        raise ValueError(
            f"relevance='score' needs a finite score, but {describe_document(document)}, has {document.score!r}"
        )
    return document.score
