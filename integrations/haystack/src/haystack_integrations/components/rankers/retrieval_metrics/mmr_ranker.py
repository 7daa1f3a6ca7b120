"""Maximal marginal relevance for the documents of any retriever."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from haystack import Document, component, default_from_dict, default_to_dict
from haystack.components.embedders.types import DocumentEmbedder, TextEmbedder
from haystack.core.serialization import component_to_dict

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import describe_document, run_async
from retrieval_metrics import mmr
from retrieval_metrics.integration_api import relevance_by, vector_cache
from retrieval_metrics.integration_api.async_support import forward_arguments, positive_integer, takes_arguments_of

Relevance = Literal["query", "score", "rank"]
Ranked: TypeAlias = Callable[..., dict[str, list[Document]]]


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
        >>> found = MMRRanker(top_k=2).run(documents=documents, query_embedding=[0.9, 0.1])
        >>> [document.content for document in found["documents"]]
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
        embedders: tuple[Any, Any] = (self.text_embedder, self.document_embedder)
        for embedder in embedders:
            if hasattr(embedder, "warm_up"):
                embedder.warm_up()

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dictionary, for saving a pipeline."""
        embedders = {"text_embedder": self.text_embedder, "document_embedder": self.document_embedder}
        return default_to_dict(
            self,
            **{name: None if one is None else component_to_dict(one, name) for name, one in embedders.items()},
            top_k=self.top_k,
            lambda_mult=self.lambda_mult,
            relevance=self.relevance,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the component from the result of `to_dict`."""
        return default_from_dict(cls, data)

    def _asked(
        self,
        documents: list[Document],
        query: str | None = None,
        query_embedding: list[float] | None = None,
        top_k: int | None = None,
        lambda_mult: float | None = None,
    ) -> tuple[dict[str, Document], str | None, Ranked]:
        """Return the documents and the query to embed, and what ranks the documents by their vectors."""
        unique = _unique(documents)
        without = {_embedded_of(document): document for document in unique if document.embedding is None}
        if without and self.document_embedder is None:
            first = next(iter(without.values()))
            raise ValueError(
                f"{describe_document(first)}, has no embedding, nor have {len(without) - 1} others; let the retriever "
                "return them, InMemoryEmbeddingRetriever(..., return_embedding=True), or pass a document_embedder"
            )
        asks = bool(unique) and self.relevance == "query" and query_embedding is None
        if asks and (query is None or self.text_embedder is None):
            raise ValueError(
                "relevance='query' needs a query_embedding, or a query and a text_embedder; or choose "
                "relevance='score' or 'rank'"
            )

        def ranked(made: Mapping[str, Any], of_query: Any = None) -> dict[str, list[Document]]:
            given = query_embedding if of_query is None else of_query
            return {"documents": self._ranked(unique, made, given, top_k, lambda_mult)}

        return without, query if asks else None, ranked

    @component.output_types(documents=list[Document])
    @takes_arguments_of(_asked)
    def run(self, *args: Any, **inputs: Any) -> dict[str, list[Document]]:  # noqa: D417  (they are those of _asked)
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
        without, query, ranked = forward_arguments("run", self._asked, args, inputs)

        def embed(texts: list[str]) -> list[Any]:
            embedder: Any = self.document_embedder
            return _made(texts, without, embedder.run(documents=[without[text] for text in texts]))

        made = vector_cache(self.document_embedder).vectors("document", [*without], embed) if without else {}
        return ranked(made, None if query is None else self.text_embedder.run(text=query)["embedding"])  # type: ignore[union-attr]  # checked

    @component.output_types(documents=list[Document])
    @takes_arguments_of(_asked)
    async def run_async(self, *args: Any, **inputs: Any) -> dict[str, list[Document]]:
        """Rank documents by MMR; the asynchronous twin of `run`, which embeds query and documents concurrently."""
        without, query, ranked = forward_arguments("run_async", self._asked, args, inputs)

        async def embed(texts: list[str]) -> list[Any]:
            found = await run_async(self.document_embedder, documents=[without[text] for text in texts])
            return _made(texts, without, found)

        async def of_documents() -> Mapping[str, Any]:
            return await vector_cache(self.document_embedder).avectors("document", [*without], embed) if without else {}

        async def of_query() -> Any:
            return None if query is None else (await run_async(self.text_embedder, text=query))["embedding"]

        return ranked(*await asyncio.gather(of_documents(), of_query()))

    def _ranked(
        self,
        documents: list[Document],
        made: Mapping[str, Any],
        query_embedding: list[float] | None,
        top_k: int | None,
        lambda_mult: float | None,
    ) -> list[Document]:
        if not documents:
            return []
        vectors = [made[_embedded_of(one)] if one.embedding is None else one.embedding for one in documents]
        selection = mmr(
            query_embedding if self.relevance == "query" else None,
            _stacked(documents, vectors),
            k=self.top_k if top_k is None else top_k,
            lambda_mult=self.lambda_mult if lambda_mult is None else lambda_mult,
            relevance=relevance_by(self.relevance, documents, _score),
        )
        return [documents[at] for at in selection]


def _embedded_of(document: Document) -> str:
    """Return all that an embedder may read of a document."""
    return f"{document.content}\0{document.meta}\0{document.blob}"


def _made(texts: Sequence[str], documents: Mapping[str, Document], answer: Mapping[str, Any]) -> list[Any]:
    """Return the vectors in an answer of an embedder, in the order of the texts."""
    embedded = {document.id: document.embedding for document in answer["documents"]}
    vectors = [embedded.get(documents[text].id) for text in texts]
    for text, vector in zip(texts, vectors, strict=True):
        if not vector:
            raise ValueError(
                f"the document_embedder returned no embedding of {describe_document(documents[text])}, but {vector!r}"
            )
    return [np.asarray(vector, dtype=np.float64) for vector in vectors]


def _unique(documents: Sequence[Document]) -> list[Document]:
    """Return one document per id, that with the highest score, at the position of the first."""
    best: dict[str, Document] = {}
    for document in documents:
        known = best.setdefault(document.id, document)
        if document.score is not None and (known.score is None or document.score > known.score):
            best[document.id] = document
    return list(best.values())


def _stacked(documents: Sequence[Document], vectors: Sequence[Any]) -> Any:
    """Return the vectors as rows."""
    for document, vector in zip(documents, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"{describe_document(document)}, has an embedding of {len(vector)} numbers, and "
                f"{describe_document(documents[0])}, one of "
                f"{len(vectors[0])}; all must come from one model"
            )
    stacked = np.array(vectors, dtype=np.float64)
    if not np.isfinite(stacked).all():
        at = int(np.flatnonzero(~np.isfinite(stacked).all(axis=1))[0])
        raise ValueError(
            f"the embedding of {describe_document(documents[at])}, must hold finite numbers, got {vectors[at]!r:.80}"
        )
    return stacked


def _score(document: Document) -> float:
    if document.score is None or not isfinite(document.score):
        raise ValueError(
            f"relevance='score' needs a finite score, but {describe_document(document)}, has {document.score!r}"
        )
    return document.score
