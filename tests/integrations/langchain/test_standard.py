"""LangChain's own standard tests of retrievers, over a lexical retriever and over a vector store."""

from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests

from corpus import Passage
from langchain_retrieval_metrics import MMRRetriever, get_vectors
from retrievers import BM25

TEXTS = ["yield gives a value", "yield suspends a generator", "a closure sees names", "send resumes a generator"]
PASSAGES = [Passage(f"p{number}", "generators", "yield", text, 0, len(text)) for number, text in enumerate(TEXTS)]
EMBEDDINGS = DeterministicFakeEmbedding(size=6)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Lexical(BaseRetriever):
    """BM25, from the examples."""

    index: Any

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        texts = {passage.id: passage.text for passage in PASSAGES}
        return [Document(texts[name], id=name) for name in self.index.search(query, 10)]


@pytest.mark.anyio
class TestOverBM25(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MMRRetriever]:
        return MMRRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"base_retriever": Lexical(index=BM25(PASSAGES)), "embeddings": EMBEDDINGS}

    @property
    def retriever_query_example(self) -> str:
        return "how does a generator yield a value to names?"


@pytest.mark.anyio
class TestOverAVectorStore(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MMRRetriever]:
        return MMRRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        store = InMemoryVectorStore.from_texts(TEXTS, EMBEDDINGS)
        return {
            "base_retriever": store.as_retriever(),
            "embeddings": EMBEDDINGS,
            "vector_fn": get_vectors(store),
            "fetch_k": 20,
        }

    @property
    def retriever_query_example(self) -> str:
        return "how does a generator yield?"
