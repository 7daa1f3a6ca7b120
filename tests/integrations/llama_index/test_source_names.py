"""Names of documents in judgments: files, ids that a reader made up, and pages of one name."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import SimpleDirectoryReader
from llama_index.core.node_parser import (
    SentenceSplitter,
)
from llama_index.core.schema import Document, NodeWithScore, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvaluator,
    source_text_by_name,
)
from llama_index_chunks import (
    PARSERS,
    PLAIN,
    find_span,
    make_evaluator,
    parse,
    read_nodes,
    select_with,
    with_scores,
)
from llama_index_hosts import Prepared


def make_page(number: int) -> Document:
    facts = [f"Fact {number}-{fact}." for fact in range(40)]
    return Document(text=f"Page {number}. " + " ".join(facts), id_=f"page {number}", metadata={"file_name": "a.pdf"})


def test_two_documents_of_one_name_are_refused_where_a_span_names_it() -> None:
    pages = [make_page(number) for number in range(1, 6)]
    nodes = read_nodes(SentenceSplitter(chunk_size=80, chunk_overlap=0), pages)
    retriever = Prepared({"q": with_scores(nodes)})
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=retriever, source="file_name")
    message = r"'page 1' and 'page 2' are both named 'a\.pdf' by source='file_name'.* doc_id .*source='ref_doc_id'"
    for evaluate in (
        lambda truth: ours.evaluate("q", truth),
        lambda truth: ours.evaluate_dataset([("q", truth)]),
        lambda truth: ours.evaluate_dataset([("q", truth)], stages=True),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate([rm.Span("a.pdf", 8, 17)])
    assert ours.evaluate("q", [rm.Quote("Fact 3-7.")]).metric_vals_dict["recall"] == 1
    start = pages[2].text.index("Fact 3-7.")
    span = rm.Span("page 3", start, start + 9)
    by_id = rm.Matching(sources=source_text_by_name(pages))
    other_pages = with_scores(node for node in nodes if node.ref_doc_id != "page 3")
    for answer, expected in ((with_scores(nodes), 1), (other_pages, 0)):
        ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=Prepared({"q": answer}), match=by_id)
        assert ours.evaluate("q", [span]).metric_vals_dict["recall"] == expected


@pytest.mark.parametrize(
    "source",
    ["file_name", "metadata:file_name", lambda scored: str(scored.node.metadata["file_path"]).rsplit("/", 1)[-1]],
)
def test_a_span_in_a_file_survives_a_reload(tmp_path: Path, source: Any) -> None:
    (tmp_path / "yield.txt").write_text(PLAIN)
    ids = set()
    for size in (64, 128):
        documents = SimpleDirectoryReader(str(tmp_path)).load_data()
        ids |= {document.node_id for document in documents}
        nodes = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(documents)
        start = PLAIN.index("Sentence number 7 of part 3")
        (holding,) = [chunk for chunk in nodes if "Sentence number 7 of part 3" in chunk.get_content()]
        match = rm.Matching(sources=source_text_by_name(documents, source))
        ours = make_evaluator(nodes=[holding], source=source, match=match)
        result = ours.evaluate("q", [rm.Span("yield.txt", start, start + 40)])
        assert result.metric_vals_dict["recall"] == 1
    assert len(ids) == 2, "the reader names documents the same at every load now: the case is gone"


def test_a_source_that_names_nothing_is_refused() -> None:
    nodes = parse(*PARSERS["sentence"])
    with pytest.raises(ValueError, match="source must be 'ref_doc_id', a metadata key"):
        make_evaluator(nodes=nodes, source="")
    with pytest.raises(ValueError, match="has no metadata 'file_name'"):
        make_evaluator(nodes=nodes, source="file_name").evaluate("q", [rm.Span("yield.txt", 0, 9)])
    pages = [Document(text=text, metadata={"file_name": "a.pdf"}) for text in ("page one", "page two")]
    with pytest.raises(ValueError, match=r"two documents are named 'a\.pdf'"):
        source_text_by_name(pages, "file_name")


def make_rule(number: int) -> str:
    very = " very" * (number % 7)
    return f"Rule {number}: a{very} large order of class {number} is sent in {number + 2} days."


@pytest.mark.parametrize("written", ["raw", "read"])
@pytest.mark.parametrize("passed", ["raw", "read"])
def test_a_span_means_its_words_whatever_the_ends_of_lines(written: str, passed: str) -> None:
    rules = [make_rule(number) for number in range(40)]
    read = "\n\n".join(rules)
    texts = {"read": read, "raw": read.replace("\n", "\r\n")}
    nodes = read_nodes(SentenceSplitter(chunk_size=40, chunk_overlap=0), [Document(text=texts["raw"], id_="doc")])
    judged = {}
    answers = {}
    for rule in (rules[3], rules[17], rules[38]):
        judged[rule] = [[rm.Quote(rule), find_span(rule, texts[written])]]
        answers[rule] = select_with(rule, nodes)
    assert all(map(len, answers.values()))
    ours = RetrieverEvaluator.from_metric_names(
        ["coverage"], retriever=Prepared(answers), documents=[Document(text=texts[passed], id_="doc")]
    )
    assert set(ours.evaluate_dataset(judged).evaluation.per_query["coverage"].values()) == {1.0}


FILES = {"with.md": "The with statement closes a file.", "for.md": "The for statement walks over a list."}


@pytest.fixture
def reader(tmp_path: Path) -> Prepared:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    nodes = SentenceSplitter().get_nodes_from_documents(SimpleDirectoryReader(tmp_path).load_data())
    return Prepared({"what closes a file?": [NodeWithScore(node=chunk) for chunk in nodes]})


def test_the_names_of_files_are_judgments_in_one_way_wherever_a_dataset_is_evaluated(reader: Prepared) -> None:
    questions = [("what closes a file?", ["with.md"])]
    how: Any = {"match": "metadata:file_name"}
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader)
    assert ours.evaluate_dataset(questions, **how).means["recall"] == 1
    assert asyncio.run(ours.aevaluate_dataset(questions, **how)).means["recall"] == 1
    compared = rm.compare_retrievers({"a": reader, "b": reader}, questions, "recall", **how)
    assert compared.evaluations["a"].means["recall"] == 1
    set_before = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader, **how)
    assert set_before.evaluate_dataset(questions).means["recall"] == 1
    named = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader, source="file_name")
    assert named.evaluate_dataset(questions, match="source").means["recall"] == 1


def test_the_documents_of_a_dataset_are_passed_where_it_is_evaluated(reader: Prepared) -> None:
    documents = [Document(text=text, metadata={"file_name": name}) for name, text in FILES.items()]
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader)
    question = "what closes a file?"
    spans = [(question, [rm.Span("with.md", 0, 20)])]
    assert ours.evaluate_dataset(spans, source="file_name", documents=documents).means["recall"] == 1
    names = [(question, ["with.md"])]
    assert ours.evaluate_dataset(names, match="filename", documents=documents).means["recall"] == 1
    with pytest.raises(ValueError, match=r"'width\.md' \(did you mean 'with\.md'\?\)"):
        ours.evaluate_dataset([(question, ["width.md"])], match="filename", documents=documents)


def test_a_source_is_not_silently_the_id_that_a_reader_made_up(reader: Prepared) -> None:
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader)
    message = r"would compare the judged '(with.md|closing)' with '[0-9a-f-]{36}', .* write match='metadata:file_name'"
    with pytest.raises(ValueError, match=message):
        ours.evaluate_dataset([("what closes a file?", ["with.md"])], match="source")
    with pytest.raises(ValueError, match=message):
        ours.evaluate_dataset([("what closes a file?", {"with.md": 2, "closing": 1})], match=rm.Matching(by="source"))
    nodes = reader.answers["what closes a file?"]
    by_id = [("what closes a file?", [nodes[0].node.ref_doc_id])]
    assert ours.evaluate_dataset(by_id, match="source").means["recall"] == 1
    by_quote = [("what closes a file?", [rm.Quote("statement closes a file")])]
    assert ours.evaluate_dataset(by_quote, match="source").means["recall"] == 1


def test_a_span_in_a_file_with_the_line_ends_of_windows_is_that_of_what_open_reads(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    lines = [f"Rule {number}: an order of class {number} is sent within {number + 2} days." for number in range(40)]
    path.write_bytes("\r\n".join(lines).encode())
    documents = SimpleDirectoryReader(tmp_path).load_data()
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents(documents)
    read = path.read_text()
    for line in lines[::3]:
        start = read.index(line)
        span = rm.Span("rules.txt", start, start + len(line))
        for holds in (True, False):
            answer = select_with(line, nodes, holds=holds)
            ours = RetrieverEvaluator.from_metric_names(
                ["recall"], retriever=Prepared({"q": answer}), source="file_name", documents=documents
            )
            assert ours.evaluate("q", [span]).metric_vals_dict["recall"] == holds


def test_a_path_in_the_metadata_is_a_file_name() -> None:
    node = NodeWithScore(node=TextNode(text="because", metadata={"file_path": Path("docs/guide.md")}))
    run = rm.retrieve(lambda _query: [node], {"q": "why?"})
    for match, judged in (("filename", "guide.md"), ("metadata:file_path", "docs/guide.md")):
        assert rm.evaluate({"q": [judged]}, run, "recall", match=match).means == {"recall": 1.0}
