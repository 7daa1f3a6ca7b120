"""Documents of LangChain as items of the core."""

from typing import Any

import pytest
from langchain_core.documents import Document

import retrieval_metrics as rm
from langchain_hosts import Prepared
from langchain_retrieval_metrics import evaluate_retriever

ROWS: list[dict[str, Any]] = [
    {"query": "why?", "relevant": ["d1"]},
    {"query": "how?", "relevant": {"d1": 2, "d9": 1}},
    {"query": "when?", "relevant": [["d4", "d5"], ["d6"]]},
]


def test_a_document_without_an_id_is_an_error_that_says_what_else_could_identify_it() -> None:
    answers = {"why?": [Document("because", metadata={"source": "a.txt"})]}
    with pytest.raises(
        ValueError,
        match=r"1 of 1 documents retrieved for query 'why\?' have no id.*match by 'source', 'metadata:<name>'",
    ) as raised:
        evaluate_retriever(Prepared(answers=answers), ROWS[:1], "mrr")
    assert raised.value.__notes__ == ["this is the first answer, for query 'why?': 'why?'"]


def test_quotes_spans_and_texts_need_no_ids() -> None:
    chunk = Document("yield gives a value", metadata={"source": "yield.txt", "start_index": 10})
    again = Document("another chunk", metadata={"source": "yield.txt", "start_index": -1})  # not found by its splitter
    truth = [
        ("quote", [rm.Quote("gives a value")]),
        ("span", [rm.Span("yield.txt", 12, 25)]),
        ("metadata", [rm.Metadata(source="yield.txt")]),
    ]
    retriever = Prepared(answers={query: [again, chunk] for query, _ in truth})
    sources = rm.Matching(sources={"yield.txt": "So, today yield gives a value. There is another chunk."})
    result = evaluate_retriever(retriever, truth, "mrr", match=sources)
    assert result.per_query["mrr"] == {"quote": 0.5, "span": 0.5, "metadata": 1.0}


@pytest.mark.parametrize(
    ("match", "error", "message"),
    [
        ("metadata:page", ValueError, "has a value for match='metadata:page'; the metadata of the first has 'source'"),
        ("ids", ValueError, "match must be 'id', 'source', 'metadata:<name>' or a callable, got 'ids'"),
        ("content", ValueError, "for the whole text, pass lambda item: item.text"),
        ("metadata:", ValueError, "match must be 'id'"),
        (lambda _: None, ValueError, "no document retrieved for query 'why\\?' has a value for match=<function"),
        (lambda _: 0.5, TypeError, "must be str or int, got float"),
        (rm.Matching(by="metadata:page"), ValueError, "has a value for match='metadata:page'"),
    ],
)
def test_what_cannot_identify_a_document_is_refused(match: Any, error: type[Exception], message: str) -> None:
    answers = {"why?": [Document("because", id="x", metadata={"source": "a.txt"})]}
    with pytest.raises(error, match=message):
        evaluate_retriever(Prepared(answers=answers), ROWS[:1], "mrr", match=match)


def test_documents_are_left_as_they_were() -> None:
    document = Document("because", id="d1", metadata={"source": "a.txt", "tags": ["x"]})
    before = document.model_copy(deep=True)
    evaluate_retriever(Prepared(answers={"why?": [document]}), ROWS[:1])
    assert document == before
