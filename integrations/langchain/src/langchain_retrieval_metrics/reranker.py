"""MMR as a document compressor, for ContextualCompressionRetriever and for pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import RunnableLambda

from langchain_retrieval_metrics.settings import MMRSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.callbacks import Callbacks
    from langchain_core.runnables import Runnable


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
        vector_fn: Returns the vector of each document, or None; for example `vectors_of(store)`.
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
