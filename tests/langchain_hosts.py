"""Retrievers and embeddings of LangChain whose answers the tests know."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever


class Prepared(BaseRetriever):
    """Answers each query with prepared documents or ids, or raises what stands there instead."""

    answers: Mapping[str, Any]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return answered(self.answers, query)


class PreparedAsync(Prepared):
    """The same, but only asynchronously."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError("asked synchronously")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        await asyncio.sleep(0)
        return answered(self.answers, query)


def answered(answers: Mapping[str, Any], query: str) -> list[Document]:
    answer = answers[query]
    if isinstance(answer, Exception):
        raise answer
    documents = []
    for entry in answer:
        documents.append(entry if isinstance(entry, Document) else Document(f"text of {entry}", id=entry))
    return documents


class TableOfVectors(Embeddings):
    """Embeds texts by looking them up, and writes down what it was asked."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.documents: list[list[str]] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents.append(texts)
        return [list(self.vectors[text]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return list(self.vectors[text])
