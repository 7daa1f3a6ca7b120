"""A judged chunk that is answered by its parent counts as found, and the retriever stays as it is."""

import asyncio
from typing import Any

import pytest
from langchain_classic.retrievers import MultiVectorRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore

import retrieval_metrics as rm
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever
from langchain_retrieval_metrics.parents import ParentRecorder

TEXTS = {"a1": "money back", "a2": "within five days", "c": "shop open nine to six", "d": "gift card for three years"}
PARENTS = {"a1": "A", "a2": "A", "c": "C", "d": "D"}
QUESTIONS = [(text, [chunk]) for chunk, text in TEXTS.items()]


def evaluate_async(*args: Any, **options: Any) -> Any:
    return asyncio.run(aevaluate_retriever(*args, **options))


def make_retriever(**search: Any) -> MultiVectorRetriever:
    chunks = InMemoryVectorStore(DeterministicFakeEmbedding(size=32))
    chunks.add_documents([Document(text, id=key, metadata={"doc_id": PARENTS[key]}) for key, text in TEXTS.items()])
    parents: InMemoryStore = InMemoryStore()
    texts_by_parent: dict[str, list[str]] = {}
    for chunk, parent in PARENTS.items():
        texts_by_parent.setdefault(parent, []).append(TEXTS[chunk])
    parents.mset([(key, Document(". ".join(texts), id=key)) for key, texts in texts_by_parent.items()])
    return MultiVectorRetriever(vectorstore=chunks, docstore=parents, id_key="doc_id", search_kwargs={"k": 2}, **search)


@pytest.mark.parametrize("search", [{}, {"search_type": "mmr"}])
@pytest.mark.parametrize("evaluate", [evaluate_retriever, evaluate_async])
def test_a_chunk_is_found_in_its_parent(evaluate: Any, search: Any) -> None:
    retriever = make_retriever(**search)
    stores = retriever.vectorstore, retriever.docstore
    result = evaluate(retriever, QUESTIONS, ["recall@1", "mrr", "precision@1"])
    assert result.means == {"recall@1": 1.0, "mrr": 1.0, "precision@1": 1.0}
    assert (retriever.vectorstore, retriever.docstore) == stores
    assert retriever.invoke("money back")[0].id == "A"


def test_the_core_compares_parents_with_chunks() -> None:
    retriever = make_retriever()
    chunks = retriever.vectorstore.as_retriever(search_kwargs={"k": 2})
    comparison = rm.compare_retrievers({"chunks": chunks, "parents": retriever}, QUESTIONS, "recall@2")
    assert comparison.means["recall@2"] == {"chunks": 1.0, "parents": 1.0}


def test_other_retrievers_are_asked_themselves() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8)).as_retriever()
    recorder = ParentRecorder(store)
    assert recorder.retriever is store
    documents = [Document("a", id="a")]
    assert recorder.add_chunks(documents) is documents
