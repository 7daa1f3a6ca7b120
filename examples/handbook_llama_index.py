# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "llama-index-evaluation-retrieval-metrics",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# llama-index-evaluation-retrieval-metrics = { path = "../integrations/llama_index", editable = true }
# ///
"""The index with which the LlamaIndex page was made: the handbook of a ferry line, and no model to download.

Run it with `uv run examples/handbook_llama_index.py`. It needs no network.
"""

from collections.abc import Callable

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import TextNode

from handbook_search import HANDBOOK, chunks, embed, new_words, old_words, questions
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator


class Words(BaseEmbedding):
    """Stands for an embedding model."""

    _words: Callable[[str], list[str]] = PrivateAttr()

    def __init__(self, words: Callable[[str], list[str]]) -> None:
        """Take the function that returns the words of a text."""
        super().__init__(model_name="words")
        self._words = words

    def _get_text_embedding(self, text: str) -> list[float]:
        return embed(text, self._words)

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed(query, self._words)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed(query, self._words)


def load_documents() -> list[Document]:
    """Return the files of the handbook, as a reader returns them."""
    return [
        Document(text=page.read_text(encoding="utf-8"), metadata={"file_name": page.name})
        for page in sorted(HANDBOOK.glob("*.md"))
    ]


def index_of(words: Callable[[str], list[str]]) -> VectorStoreIndex:
    """Return an index of the paragraphs of the handbook."""
    nodes = []
    for number, (file, text) in enumerate(chunks()):
        # Nodes of equal similarity are ordered by their ids, which would be random.
        node = TextNode(id_=f"{number:03}", text=text, metadata={"file_name": file})
        node.excluded_embed_metadata_keys = ["file_name"]
        nodes.append(node)
    return VectorStoreIndex(nodes, embed_model=Words(words))


def yours() -> dict[str, object]:
    """Return what the page calls yours, by name."""
    return {
        "documents": load_documents(),
        "index": index_of(new_words),
        "old_index": index_of(old_words),
        "embed_model": Words(new_words),
    }


def main() -> None:
    """Print the metrics of the index."""
    evaluator = RetrieverEvaluator.from_metric_names(
        ["recall@5", "ndcg@5"], retriever=index_of(new_words).as_retriever(similarity_top_k=5)
    )
    print(evaluator.evaluate_dataset(questions(), match="filename"))


if __name__ == "__main__":
    main()
