"""Documents of Haystack as items of the core."""

from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter, HierarchicalDocumentSplitter
from haystack.components.retrievers import AutoMergingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from haystack_hosts import Prepared
from haystack_integrations.components.evaluators.retrieval_metrics import (
    evaluate_pipeline,
)


def test_a_span_in_a_file_with_the_line_ends_of_windows_is_that_of_what_open_reads(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    lines = [f"Rule {number}: an order of class {number} is sent within {number + 2} days." for number in range(40)]
    path.write_bytes("\r\n".join(lines).encode())
    documents = TextFileToDocument().run(sources=[path])["documents"]
    chunks = DocumentSplitter(split_by="word", split_length=30).run(documents=documents)["documents"]
    read = path.read_text()
    questions = []
    answers = {}
    for line in lines:
        chunks_with_line = [chunk for chunk in chunks if line in str(chunk.content)]
        if chunks_with_line:
            start = read.index(line)
            questions.append((line, [rm.Span(documents[0].id, start, start + len(line))]))
            answers[line] = chunks_with_line
    assert len(questions) > 10
    (stage,) = evaluate_pipeline(Prepared(answers), questions, "coverage", documents=documents).values()
    assert set(stage.per_query["coverage"].values()) == {1.0}


def test_a_chunk_knows_its_place() -> None:
    meta = {"source_id": "book", "split_idx_start": 10}
    run = rm.retrieve(Prepared({"q": [Document(content="the with statement", meta=meta)]}), {"q1": "q"})
    qrels = {"q1": [rm.Span("book", 14, 18)]}
    book = rm.Matching(sources={"book": "0123456789the with statement"})
    assert rm.evaluate(qrels, run, "recall", match=book).means["recall"] == 1.0
    with pytest.warns(rm.RetrievalWarning, match="1 with unverified offsets recorded by a framework"):
        assert rm.evaluate(qrels, run, "recall").means["recall"] == 0.0
    assert rm.evaluate({"q1": ["book"]}, run, "recall", match="source").means["recall"] == 1.0


@pytest.mark.parametrize("is_merged_twice", [False, True])
def test_a_judged_chunk_is_found_in_the_parent_that_replaces_it(is_merged_twice: bool) -> None:
    words = " ".join(f"word{number}" for number in range(12))
    splitter = HierarchicalDocumentSplitter(block_sizes={4, 2}, split_overlap=0, split_by="word")
    blocks = splitter.run(documents=[Document(content=words, id="rules")])["documents"]
    leaves = [block for block in blocks if not block.meta["__children_ids"]]
    siblings = [leaf for leaf in leaves if is_merged_twice or leaf.meta["__parent_id"] == leaves[0].meta["__parent_id"]]
    store = InMemoryDocumentStore()
    store.write_documents(blocks)
    pipeline = Pipeline()
    pipeline.add_component("leaves", Prepared({"q": siblings}))
    pipeline.add_component("merging", AutoMergingRetriever(store, threshold=0.5))
    pipeline.connect("leaves.documents", "merging.documents")
    questions = [("q", [leaf.id for leaf in siblings])]
    if not is_merged_twice:
        stages = evaluate_pipeline(pipeline, questions, ["recall", "precision@1"])
        assert stages["merging"].means == stages["leaves"].means == {"recall": 1.0, "precision@1": 1.0}
        return
    # The whole document names only the blocks between.
    with pytest.warns(rm.RetrievalWarning, match="6 judged chunks may be contained in retrieved parent documents"):
        evaluate_pipeline(pipeline, questions, "recall")


def test_a_path_in_the_metadata_is_a_file_name() -> None:
    document = Document(
        content="because", meta={"file_path": Path("docs/guide.md"), "source_id": Path("docs/guide.md")}
    )
    run = rm.retrieve(lambda _query: [document], {"q": "why?"})
    for match, judged in (
        ("filename", "guide.md"),
        ("metadata:file_path", "docs/guide.md"),
        ("source", "docs/guide.md"),
    ):
        assert rm.evaluate({"q": [judged]}, run, "recall", match=match).means == {"recall": 1.0}
