"""A check: retrievers of any host, errors, and names."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from pytest_retrieval_metrics import RetrievalCheck

QRELS = {"what does yield do?": ["yield#1"], "what is a closure?": ["naming#2"]}


class Search(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        names = ["yield#1", "with#2"] if "yield" in query_bundle.query_str else ["with#2", "naming#2"]
        return [NodeWithScore(node=TextNode(id_=name, text=f"about {name}")) for name in names]


def test_a_retriever_of_llama_index_is_asked_and_read(check: RetrievalCheck) -> None:
    assert check(QRELS, Search(), {"mrr": 0.75}).evaluation.means["mrr"] == 0.75


class SearchDocuments(LangChainRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        names = ["yield#1", "with#2"] if "yield" in query else ["with#2", "naming#2"]
        return [Document(f"about {name}", id=name) for name in names]


def test_a_retriever_of_langchain_is_asked_and_read(check: RetrievalCheck) -> None:
    assert check(QRELS, SearchDocuments(), {"mrr": 0.75}).evaluation.means["mrr"] == 0.75


def test_documents_are_left_out(check: RetrievalCheck) -> None:
    run = {"q1": ["q1", "d1"], "q2": ["q2", "d2"]}
    qrels = {"q1": ["d1"], "q2": ["d2"]}
    result = check(qrels, run, {"mrr": 1.0}, exclude="query_id")
    assert (result.evaluation.means["mrr"], result.evaluation.counts["excluded"]) == (1.0, 2)
    asked = check(
        qrels, lambda text: [text, f"d{text[1:]}"], {"mrr": 1.0}, exclude={"q1": ["q1"], "q2": ["q2"]}, name="2"
    )
    assert asked.evaluation.counts["excluded"] == 2


def test_its_texts_can_be_judged(check: RetrievalCheck) -> None:
    qrels = {"what does yield do?": [rm.Quote("about yield")]}
    assert check(qrels, Search(), {"mrr": 1}).evaluation.means["mrr"] == 1


def test_where_every_query_fails_the_gate_says_why_and_not_that_the_retriever_is_bad(check: RetrievalCheck) -> None:
    def refused(text: str) -> list[str]:
        raise PermissionError(f"401 for {text}")

    with pytest.raises(PermissionError, match="401 for one"):
        check({"one": ["d"], "two": ["d"]}, refused, {"mrr": 0.5})
    failed = rm.RetrievedRun({"q1": [], "q2": []}, dict.fromkeys(["q1", "q2"], PermissionError("401")))
    with pytest.raises(ValueError, match="failed for every query, 2 of 2; the first, 'q1': PermissionError: 401"):
        check({"q1": ["d"], "q2": ["d"]}, failed, {"mrr": 0.5}, name="failed")


def test_two_checks_of_a_test_need_names(check: RetrievalCheck) -> None:
    check(QRELS, QRELS, {"mrr": 1})
    with pytest.raises(ValueError, match="this test already has a check without a name"):
        check(QRELS, QRELS, {"mrr": 1})


def test_arguments_are_shown_and_a_wrong_one_is_refused_in_the_name_of_the_fixture(check: RetrievalCheck) -> None:
    wrong: Any = {"at_leats": {"mrr": 1}}
    with pytest.raises(TypeError, match=r"^retrieval_check: got an unexpected keyword argument 'at_leats'"):
        check(QRELS, QRELS, **wrong)
    with pytest.raises(TypeError, match=r"^acheck: got an unexpected keyword argument 'at_leats'"):
        asyncio.run(check.acheck(QRELS, QRELS, {"mrr": 1}, **wrong))
