"""What callbacks tell of the steps of a chain."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, TypedDict

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.graph import END, START, StateGraph

import retrieval_metrics as rm
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever

QUESTIONS = rm.EvaluationSet.from_dataset([(f"question {number}?", ["a", "d", "u"]) for number in range(12)])
FIRST = ["a", "b", "c"]
SECOND = ["d", "a"]


def documents(ids: Sequence[str]) -> list[Document]:
    return [Document(f"text of {document_id}", id=document_id) for document_id in ids]


class Finder(BaseRetriever):
    """Takes another time for each question, so that the parts of an ensemble end in another order each time."""

    ids: list[str]

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        del query
        return documents(self.ids)

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        del query
        await asyncio.sleep(random.random() / 100)
        return documents(self.ids)


class Best(BaseDocumentCompressor):
    """Keeps two, and changes their scores in place."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        del query, callbacks
        for rank, document in enumerate(documents):
            document.metadata["relevance_score"] = 1 / (1 + rank)
        return [*documents][:2]


def nested() -> ContextualCompressionRetriever:
    ensemble = EnsembleRetriever(retrievers=[Finder(ids=FIRST), Finder(ids=SECOND)], weights=[0.5, 0.5])
    return ContextualCompressionRetriever(base_retriever=ensemble, base_compressor=Best())


def retrieve_sync_and_async(retriever: Any, **options: Any) -> list[rm.RetrievedRun]:
    return [rm.retrieve(retriever, QUESTIONS, **options), asyncio.run(rm.aretrieve(retriever, QUESTIONS, **options))]


def ids(run: Any) -> list[list[str]]:
    return [item_ids(ranking) for ranking in run.values()]


def item_ids(items: Any) -> list[str]:
    return [item.id for item in items]


def test_ensembles_and_compression_are_steps_whichever_part_ends_first() -> None:
    for run in retrieve_sync_and_async(nested()):
        assert list(run.stages) == ["Finder", "Finder 2", "EnsembleRetriever", "ContextualCompressionRetriever"]
        assert ids(run.stages["Finder"]) == [FIRST] * 12
        assert ids(run.stages["Finder 2"]) == [SECOND] * 12
        for ranking in run.stages["Finder"].values():
            assert [item.score for item in ranking] == [None] * 3
        lost = rm.evaluate(QUESTIONS, run, "recall@2").stages.losses("recall@2").means
        assert (lost["found"], lost["cutoff_full"]) == pytest.approx((2 / 3, 1 / 3))
    for result in (
        evaluate_retriever(nested(), QUESTIONS, "recall@2"),
        asyncio.run(aevaluate_retriever(nested(), QUESTIONS, "recall@2")),
    ):
        assert result.stages.first_stage == ("Finder", "Finder 2")


def test_functions_of_a_chain_are_steps_and_an_empty_answer_is_one() -> None:
    def keep(documents: list[Document]) -> list[Document]:
        return documents[:1]

    def nothing(documents: list[Document]) -> list[Document]:
        return documents[3:]

    for run in retrieve_sync_and_async(Finder(ids=FIRST) | RunnableLambda(keep) | RunnableLambda(nothing)):
        assert list(run.stages) == ["Finder", "keep", "nothing"]
        assert ids(run.stages["nothing"]) == [[]] * 12


def test_a_map_of_documents_is_its_steps() -> None:
    chain = (
        RunnableParallel(bm25=Finder(ids=FIRST), dense=Finder(ids=SECOND))
        .assign(fused=lambda rankings: rankings["bm25"] + rankings["dense"])
        .assign(reranked=lambda rankings: rankings["fused"][::-1][:2])
    )
    for run in retrieve_sync_and_async(chain):
        assert list(run.stages) == ["bm25", "dense", "fused", "reranked"]
        assert ids(run) == [["a", "d"]] * 12
    with pytest.raises(TypeError, match="name the key of the documents with documents_key="):
        evaluate_retriever(RunnableParallel(context=Finder(ids=FIRST)), QUESTIONS, "mrr")


def test_the_users_own_tags_name_no_stage() -> None:
    def keep(documents: list[Document]) -> list[Document]:
        return documents[:1]

    chain = (Finder(ids=FIRST) | RunnableLambda(keep)).with_config(tags=["retriever_prod", "map:keys"])
    for run in retrieve_sync_and_async(chain):
        assert list(run.stages) == ["Finder", "keep"]
    parallel = RunnableParallel(bm25=Finder(ids=FIRST), dense=Finder(ids=SECOND))
    fused = (parallel | (lambda rankings: rankings["bm25"] + rankings["dense"])).with_config(tags=["retriever_prod"])
    for run in retrieve_sync_and_async(fused):
        assert list(run.stages)[:2] == ["bm25", "dense"]


def test_a_retriever_alone_tells_no_step() -> None:
    assert [run.stages for run in retrieve_sync_and_async(Finder(ids=FIRST))] == [{}, {}]


def test_chains_that_return_a_mapping_and_take_one() -> None:
    chain = RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | nested()).assign(
        answer=lambda _: "yes"
    )
    result = evaluate_retriever(chain, QUESTIONS, "mrr", query_key="input", documents_key="context")
    assert list(result.stages) == ["Finder", "Finder 2", "EnsembleRetriever", "ContextualCompressionRetriever"]


class State(TypedDict, total=False):
    """The state of a graph."""

    question: str
    documents: list[Document]
    turns: int


def test_the_nodes_of_a_graph_are_steps_as_often_as_they_run() -> None:
    def retrieve(state: State) -> State:
        return {"documents": Finder(ids=FIRST).invoke(state["question"]), "turns": state.get("turns", 0) + 1}

    def grade(state: State) -> State:
        return {"documents": state["documents"][:2]}

    builder = StateGraph(State)
    builder.add_node("retrieve", retrieve)
    builder.add_node("grade", grade)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "grade")
    builder.add_conditional_edges("grade", lambda state: "retrieve" if state["turns"] < 2 else END)
    graph: Any = builder.compile()
    keys: Any = {"query_key": "question", "documents_key": "documents"}
    for result in (
        evaluate_retriever(graph, QUESTIONS, "mrr", **keys),
        asyncio.run(aevaluate_retriever(graph, QUESTIONS, "mrr", **keys)),
    ):
        assert list(result.stages) == ["Finder", "retrieve", "grade", "Finder 2", "retrieve 2", "grade 2"]
        assert result.stages.first_stage == ("Finder", "Finder 2")
