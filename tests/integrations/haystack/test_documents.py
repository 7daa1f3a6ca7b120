"""Documents of Haystack as items of the core."""

from pathlib import Path

import pytest
from haystack import Document
from haystack.components.converters import TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter

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
