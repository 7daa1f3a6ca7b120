"""Documents are recognised in the forms that frameworks write, and messages are not taken for documents."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document

import retrieval_metrics as rm
from retrieval_metrics.inputs.host_documents import as_list_of, convert_to_items, find_item, is_content_block
from retrieval_metrics.inputs.items import item_identity


@pytest.mark.parametrize(
    "document",
    [
        {"id": "d1", "page_content": "a text", "metadata": {"source": "a.md", "start_index": 3}},
        {"document": {"doc_id": "d1", "content": "a text", "meta": {"source": "a.md", "start_index": 3}}},
        {"id": "d1", "score": 0.5, "payload": {"text": "a text", "source": "a.md", "start_index": 3}},
        {"id_": "d1", "text": "a text", "metadata": '{"file_path": "a.md"}', "start_char_idx": 3},
        {"docno": "d1", "snippet": "a text", "url": "a.md", "start_char_idx": 3},
    ],
)
def test_every_form_holds_the_same_item(document: dict[str, Any]) -> None:
    item = find_item(document)
    assert item is not None
    assert (item.id, item.text, item.source, item.start) == ("d1", "a text", "a.md", 3)
    assert item.offsets_unverified


@pytest.mark.parametrize(
    "value",
    [
        {"role": "tool", "content": "a text"},
        {"type": "text", "text": "a text"},
        {"type": "text", "text": "a text", "id": "lc_1"},
        {"score": 0.5},
        {"id": ["d1"], "text": "a text"},
        {"id": "d1", "text": 3},
        {"id": float("nan")},
        "d1",
        None,
    ],
)
def test_other_objects_hold_none(value: object) -> None:
    assert find_item(value) is None


def test_a_text_in_a_message_is_a_content_block() -> None:
    assert is_content_block({"type": "input_text", "text": "x", "id": "any"})
    assert is_content_block({"block_type": "text", "text": "x"})
    assert not is_content_block({"type": "text", "text": "x", "id": "d1"})


def test_ids_items_documents_and_objects_may_stand_in_one_list() -> None:
    own = SimpleNamespace(doc_id="d4", text="four")
    items = convert_to_items(["d1", 2, rm.Retrieved("d3"), Document("five", id="d5"), own], "the output")
    assert [item_identity(item) for item in items] == ["d1", 2, "d3", "d5", "d4"]


@pytest.mark.parametrize("answer", ["d1", {"d1": 0.5}, {"d1", "d2"}, 3])
def test_what_has_no_order_is_refused(answer: object) -> None:
    with pytest.raises(TypeError, match="the output must hold a list of documents or IDs, got"):
        convert_to_items(answer, "the output")


def test_lists_of_something_else_are_refused() -> None:
    with pytest.raises(TypeError, match=r"the output must hold documents or IDs; it holds \{'score': 1\}"):
        convert_to_items([{"score": 1}], "the output")
    assert as_list_of([Document("x")], Document, "a list of Documents") == [Document("x")]
    with pytest.raises(TypeError, match=r"a list of Documents, got \{'x': 1\}"):
        as_list_of({"x": 1}, Document, "a list of Documents")


@pytest.mark.parametrize(
    ("document_id", "expected"), [(1.0, "1"), (1.5, "1.5"), (7, 7), ("", None), (" ", None), ("1.0", "1.0")]
)
def test_an_id_is_text_or_a_whole_number(document_id: Any, expected: Any) -> None:
    item = find_item({"id": document_id, "text": "a text"})
    assert item is not None
    assert item.id == expected
    assert type(item.id) is type(expected)
