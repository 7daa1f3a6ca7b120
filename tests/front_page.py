"""What the front page calls yours: an index, stores, questions, rows and a model, over the handbook, offline.

`python tests/front_page.py` draws the page's picture again.
"""

import json
import os
import re
from collections.abc import Callable
from typing import Any
from zlib import crc32

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.outputs import Generation, LLMResult
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # Ragas reads it when it is imported

from ragas import EvaluationDataset
from ragas.llms import BaseRagasLLM

import retrieval_metrics as rm
from running_pages import HANDBOOK, ROOT

DIMENSIONS = 1024
PICTURE = ROOT / "examples" / "front_page.png"


def old_words(text: str) -> list[str]:
    """Return the longer words as they are written."""
    return re.findall(r"\w{4,}", text)


def new_words(text: str) -> list[str]:
    """Return the beginnings of words, in lower case: "tickets" meets "Ticket"."""
    return [word[:5] for word in re.findall(r"\w{3,}", text.lower())]


def vector_of(words: list[str]) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in words:
        vector[crc32(word.encode()) % DIMENSIONS] = 1.0
    return vector


class LangChainWords(Embeddings):
    """Stands for an embedding model."""

    def __init__(self, words: Callable[[str], list[str]]) -> None:
        self.words = words

    def embed_query(self, text: str) -> list[float]:
        return vector_of(self.words(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


class LlamaIndexWords(BaseEmbedding):
    """Stands for an embedding model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector_of(new_words(text))

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Judge(BaseRagasLLM):
    """Stands for a language model: finds one statement in every answer, and finds it supported."""

    def generate_text(self, prompt: Any, *args: Any, **options: Any) -> LLMResult:
        reply: dict[str, list[Any]] = {"statements": ["It is so."]}
        if '"verdict"' in prompt.to_string():
            reply = {"statements": [{"statement": "It is so.", "reason": "The page says so.", "verdict": 1}]}
        return LLMResult(generations=[[Generation(text=json.dumps(reply))]])

    async def agenerate_text(self, prompt: Any, *args: Any, **options: Any) -> LLMResult:
        return self.generate_text(prompt)

    def is_finished(self, response: LLMResult) -> bool:
        return True


def chunks() -> list[tuple[str, str]]:
    """Return the name of the file and the text of every paragraph of the handbook."""
    return [
        (page.name, paragraph)
        for page in sorted(HANDBOOK.glob("*.md"))
        for paragraph in page.read_text(encoding="utf-8").split("\n\n")[1:]
    ]


def store_of(words: Callable[[str], list[str]]) -> InMemoryVectorStore:
    documents = [Document(text, metadata={"source": file}) for file, text in chunks()]
    return InMemoryVectorStore.from_documents(documents, LangChainWords(words))


def index() -> VectorStoreIndex:
    nodes = []
    for number, (file, text) in enumerate(chunks()):
        # Nodes of equal similarity are ordered by their ids, which would be random.
        node = TextNode(id_=f"{number:03}", text=text, metadata={"file_name": file})
        node.excluded_embed_metadata_keys = ["file_name"]
        nodes.append(node)
    return VectorStoreIndex(nodes, embed_model=LlamaIndexWords())


def answered(asked: list[tuple[str, list[str]]], store: InMemoryVectorStore) -> EvaluationDataset:
    """Return what an application retrieved and answered to the first questions."""
    rows: list[dict[str, Any]] = []
    for question, files in asked[:12]:
        found = store.similarity_search(question, k=5)
        rows.append(
            {
                "user_input": question,
                "response": found[0].page_content,
                "retrieved_contexts": [document.page_content for document in found],
                "retrieved_context_ids": [document.metadata["source"] for document in found],
                "reference_context_ids": files,
            }
        )
    return EvaluationDataset.from_list(rows)


def questions() -> list[tuple[str, list[str]]]:
    """Return the questions of the passengers, each with the files that answer it."""
    lines = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["query"], sorted({place["source"] for place in row["needed"]})) for row in rows]


def names() -> dict[str, object]:
    """Return the names with which the front page begins."""
    store = store_of(new_words)
    return {
        "questions": questions(),
        "index": index(),
        "store": store,
        "old_store": store_of(old_words),
        "dataset": answered(questions(), store),
        "llm": Judge(),
    }


def draw() -> None:
    """Draw the comparison of the page, stacked, so that it can be read on a phone."""
    depth = {"k": 5}
    retrievers = {
        "old": store_of(old_words).as_retriever(search_kwargs=depth),
        "new": store_of(new_words).as_retriever(search_kwargs=depth),
    }
    comparison = rm.compare_retrievers(retrievers, questions(), "ndcg@5", match="filename")
    comparison.plot(across=1).savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    draw()
