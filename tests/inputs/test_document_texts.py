"""The texts of documents are known from a corpus, from documents that are passed, and from what systems retrieved."""

from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.inputs.document_texts import (
    MAX_RESULTS,
    DocumentTexts,
    iterate_items,
    with_document_texts,
    with_texts_of_runs,
)
from retrieval_metrics.inputs.match_key import get_match_key


def test_texts_are_found_by_id_and_by_source() -> None:
    qrels = with_document_texts(rm.Qrels({"q1": ["d1"]}), [rm.Retrieved("d1", "one\n  text", source="a.md")])
    assert qrels.document_texts is not None
    assert qrels.document_texts.find_text("d1") == "one text"
    assert qrels.document_texts.find_text("a.md") == "one text"
    assert qrels.document_texts.find_text("d2") is None
    named = with_document_texts(rm.Qrels({"q1": ["d1"]}), {"d1": " "})
    assert named.document_texts is not None
    assert named.document_texts.find_text("d1") is None


def test_two_documents_of_one_collection_are_different() -> None:
    texts = DocumentTexts([{"a": "text", "b": "text"}, {"a": "text", "c": "text"}])
    assert (texts.are_different("a", "b"), texts.are_different("b", "c")) == (True, False)


def test_runs_of_items_have_texts() -> None:
    qrels = rm.Qrels({"q1": ["d1"]})
    key = get_match_key("id")
    assert with_texts_of_runs(qrels, [{"q1": ["d1"]}, {"q1": {"d1": 1.0}}], key) is qrels
    items: Any = {"q1": [rm.Retrieved("d1", "one"), rm.Retrieved("d2")]}
    document_texts = with_texts_of_runs(qrels, [{"q1": ["d1"]}, items], key).document_texts
    assert document_texts is not None
    assert list(document_texts.collections) == [{"d1": "one"}]
    quotes = rm.Qrels({"q1": [rm.Quote("one")]})
    assert with_texts_of_runs(quotes, [items], key) is quotes


def test_only_the_first_results_are_read() -> None:
    run: Any = {"q1": [rm.Retrieved(f"d{number}") for number in range(MAX_RESULTS + 5)]}
    assert len(list(iterate_items(run, MAX_RESULTS))) == MAX_RESULTS
    assert list(iterate_items(rm.Run.from_frame({"query": ["q"], "document": ["d"], "score": [1.0]}), None)) == []
