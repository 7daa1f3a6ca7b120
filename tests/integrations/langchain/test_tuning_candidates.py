"""The candidates of each question are asked for once, and every setting selects from them as its retriever would."""

import pytest
from langchain_core.documents import Document

from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRRetriever
from langchain_retrieval_metrics.tuning_candidates import CandidateSource, Setting

VECTORS = {"a": [1.0, 0.1], "same": [1.0, 0.1], "again": [1.0, 0.11], "other": [0.6, 1.0]}
DOCUMENTS = [Document(text, id=text) for text in VECTORS]
EMBEDDINGS = VECTORS | {"query": [1.0, 0.05], "silence": [1.0, 0.05]}


def make_retriever() -> MMRRetriever:
    base = Prepared(answers={"query": DOCUMENTS, "silence": []})
    return MMRRetriever(base_retriever=base, embeddings=TableOfVectors(EMBEDDINGS), k=2)


@pytest.mark.parametrize("setting", [Setting(0.3, None), Setting(0.3, 4), Setting(0.3, 2), Setting(1.0, 3)])
def test_a_setting_selects_what_the_retriever_so_configured_does(setting: Setting) -> None:
    retriever = make_retriever()
    source = CandidateSource(retriever, [setting, Setting(0.5, 4)], None)
    source.functions.prefer_sync("query")
    configured = retriever.model_copy(update=setting._asdict())
    expected = [document.id for document in configured.invoke("query")]
    assert [item.id for item in source.select("query", setting)] == expected


def test_the_first_documents_are_those_of_the_base_retriever() -> None:
    source = CandidateSource(make_retriever(), [Setting(0.3, 4)], None)
    source.functions.prefer_sync("query")
    assert [item.id for item in source.select_first("query")] == ["a", "same"]
    assert source.largest_count == 4


def test_of_a_question_without_candidates_nothing_is_selected() -> None:
    source = CandidateSource(make_retriever(), [Setting(0.3, 4)], None)
    source.functions.prefer_sync("silence")
    assert source.largest_count == 0
    assert source.select("silence", Setting(0.3, 4)) == []
    assert source.select_first("silence") == []
