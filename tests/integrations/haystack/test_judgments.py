"""Expected documents as judgments: groups, quotes and spans."""

from typing import Any

import pytest
from haystack import Document

import retrieval_metrics as rm
from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator

PARIS = Document(content="Paris")


ROME = Document(content="Rome")


BONN = Document(content="Bonn")


BOOK = Document(id="book", content="A closure keeps names. A slot saves memory. A closure keeps names. The end.")


def chunk(start: int, end: int, **meta: Any) -> Document:
    return Document(content=str(BOOK.content)[start:end], meta={"source_id": "book", **meta})


def test_spans_survive_another_splitter_whatever_it_recorded() -> None:
    expected = chunk(23, 43, split_idx_start=0)  # an offset that is wrong, of a text that stands once
    again = chunk(44, 66, split_idx_start=44)
    evaluator = RetrievalEvaluator(["recall", "mrr"], document_comparison_field="span")
    rows: Any = {
        "ground_truth_documents": [[expected], [again]],
        "retrieved_documents": [[chunk(0, 22), chunk(20, 60)], [chunk(67, 75), chunk(30, 75, split_idx_start=3)]],
    }
    outputs = evaluator.run(**rows, documents=[BOOK])
    assert outputs["results"]["mrr"]["individual_scores"] == [0.5, 0.5]
    qrels = {0: [rm.Span("book", 23, 43)], 1: [rm.Span("book", 44, 66)]}
    items = {}
    for question, row in enumerate(rows["retrieved_documents"]):
        items[question] = [rm.Retrieved(document.id, document.content, source="book") for document in row]
    core = rm.evaluate(qrels, items, ["recall", "mrr"], documents={"book": BOOK.content})
    assert outputs["evaluation"].per_query == core.per_query


@pytest.mark.parametrize(
    ("expected", "documents", "message"),
    [
        (chunk(23, 43), None, "'span' needs documents"),
        (chunk(0, 22), [BOOK], "occurs several times"),
        (Document(content="nowhere", meta={"source_id": "book"}), [BOOK], "is not in document 'book'"),
        (Document(content="A slot"), [BOOK], "its source_id 'None' is not among the documents"),
    ],
)
def test_a_span_that_cannot_be_placed_is_refused(expected: Document, documents: Any, message: str) -> None:
    evaluator = RetrievalEvaluator("mrr", document_comparison_field="span")
    with pytest.raises(ValueError, match=message):
        evaluator.run([[expected]], [[BOOK]], documents)


def test_one_of_each_group_is_enough() -> None:
    expected = [
        Document(content="Paris", meta={"fact": "capital"}),
        Document(content="the city on the Seine", meta={"fact": "capital"}),
        Document(content="Bonn"),
    ]
    rows: Any = {"ground_truth_documents": [expected], "retrieved_documents": [[ROME, PARIS, BONN]]}
    assert RetrievalEvaluator("full_recall@3", group_field="meta.fact").run(**rows)["score"] == 1.0
    assert RetrievalEvaluator("full_recall@3").run(**rows)["score"] == 0.0


def test_a_quote_is_found_in_a_chunk_of_any_size() -> None:
    rows: Any = {
        "ground_truth_documents": [[Document(content="with statement wraps")]],
        "retrieved_documents": [[PARIS, Document(content="8.5 The with\nstatement wraps a block.")]],
    }
    assert RetrievalEvaluator("mrr", document_comparison_field="quote").run(**rows)["score"] == 0.5
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        assert RetrievalEvaluator("mrr").run(**rows)["score"] == 0.0
