"""What the front page calls yours: an index, stores, questions, rows and a model, over the handbook, offline.

`python tests/front_page.py` draws the page's picture again.
"""

import json
import os
from typing import Any

from langchain_core.outputs import Generation, LLMResult
from langchain_core.vectorstores import InMemoryVectorStore

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # Ragas reads it when it is imported

from ragas import EvaluationDataset
from ragas.llms import BaseRagasLLM

import retrieval_metrics as rm
from handbook_langchain import store_of
from handbook_llama_index import index_of
from handbook_search import new_words, old_words, questions
from running_pages import ROOT

PICTURE = ROOT / "examples" / "front_page.png"


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


def answered(pairs: list[tuple[str, list[str]]], store: InMemoryVectorStore) -> EvaluationDataset:
    """Return what an application retrieved and answered to the first questions."""
    rows: list[dict[str, Any]] = []
    for question, files in pairs[:12]:
        documents = store.similarity_search(question, k=5)
        rows.append(
            {
                "user_input": question,
                "response": documents[0].page_content,
                "retrieved_contexts": [document.page_content for document in documents],
                "retrieved_context_ids": [document.metadata["source"] for document in documents],
                "reference_context_ids": files,
            }
        )
    return EvaluationDataset.from_list(rows)


def names() -> dict[str, object]:
    """Return the names with which the front page begins."""
    store = store_of(new_words)
    return {
        "questions": questions(),
        "index": index_of(new_words),
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
