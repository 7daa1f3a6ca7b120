# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "langchain-retrieval-metrics",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# langchain-retrieval-metrics = { path = "../integrations/langchain", editable = true }
# ///
"""The vector store with which the LangChain page was made: the handbook of a ferry line, and no model to download.

Run it with `uv run examples/handbook_langchain.py`. It needs no network.
"""

from collections.abc import Callable

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from handbook_search import chunks, embed, new_words, old_words, questions
from langchain_retrieval_metrics import evaluate_retriever


class Words(Embeddings):
    """Stands for an embedding model."""

    def __init__(self, words: Callable[[str], list[str]]) -> None:
        """Take the function that returns the words of a text."""
        self.words = words

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return embed(text, self.words)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return [self.embed_query(text) for text in texts]


def load_documents() -> list[Document]:
    """Return the paragraphs of the handbook as a splitter leaves them, with the file of each as its source."""
    return [Document(text, metadata={"source": file}) for file, text in chunks()]


def store_of(words: Callable[[str], list[str]]) -> InMemoryVectorStore:
    """Return a vector store of the handbook."""
    return InMemoryVectorStore.from_documents(load_documents(), Words(words))


def yours() -> dict[str, object]:
    """Return what the page calls yours, by name."""
    return {"documents": load_documents(), "store": store_of(new_words), "old_store": store_of(old_words)}


def main() -> None:
    """Print the metrics of the store."""
    retriever = store_of(new_words).as_retriever(search_kwargs={"k": 5})
    print(evaluate_retriever(retriever, questions(), ["recall@5", "ndcg@5"], match="filename"))


if __name__ == "__main__":
    main()
