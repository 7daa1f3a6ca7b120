"""Spans are judged by the texts of `documents=`, whatever offsets a splitter recorded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from haystack import Document as HaystackDocument
from langchain_core.documents import Document
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import NodeWithScore, TextNode

import retrieval_metrics as rm
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from pytest_retrieval_metrics import RetrievalCheck
from pytest_retrieval_metrics.settings import Settings
from retrieval_metrics.cli.main import main
from splitters import Case, cases, table

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "# Keys\n\nKeys are hashed once. Slots save memory.\n\n# Files\n\nFiles are closed at the end of the block."
FACT = "Slots save memory."
SPAN = rm.Span("a.md", TEXT.index(FACT), TEXT.index(FACT) + len(FACT))
QUESTIONS = rm.EvaluationSet({"q": "what saves memory?"}, {"q": [SPAN]})
# Its offset is that within its section, as splitters after splitters leave it.
CHUNK = rm.Retrieved("c1", FACT, "a.md", 13, offsets_unverified=True)
WRONG = rm.Retrieved("c2", TEXT[SPAN.start - 5 : SPAN.end - 5], "a.md", SPAN.start, offsets_unverified=True)
RUN = {"q": [CHUNK]}


@pytest.mark.parametrize(
    "documents",
    [
        {"a.md": TEXT},
        [rm.Retrieved("d1", TEXT, source="a.md")],
        [Document(TEXT, metadata={"source": "a.md"}), Document("other", metadata={"source": "b.md"})],
        [LlamaDocument(text=TEXT, id_="a.md")],
        [HaystackDocument(id="a.md", content=TEXT)],
    ],
)
def test_a_chunk_is_found_in_its_document_whatever_its_offsets_say(documents: Any) -> None:
    assert rm.evaluate(QUESTIONS, RUN, "recall", documents=documents).means["recall"] == 1
    assert rm.evaluate(QUESTIONS, {"q": [WRONG]}, "density", documents=documents).means["density"] < 1
    comparison = rm.compare(QUESTIONS, {"a": RUN, "b": RUN}, "recall", documents=documents)
    assert comparison.means["recall"] == {"a": 1, "b": 1}
    retrievers = {"a": lambda _: [CHUNK], "b": lambda _: [CHUNK]}
    comparison_of_retrievers = rm.compare_retrievers(retrievers, QUESTIONS, "recall", documents=documents)
    assert comparison_of_retrievers.means["recall"] == {"a": 1, "b": 1}


def test_a_corpus_may_mix_items_and_documents_of_several_hosts() -> None:
    corpus = [rm.Retrieved("a", TEXT), Document("other", id="b"), LlamaDocument(text=FACT, id_="c")]
    questions = rm.EvaluationSet({"q": "what saves memory?"}, {"q": ["a", "b", "c", "d"]})
    assert [finding.evidence["document"] for finding in questions.lint(corpus).named("unknown_document")] == ["d"]
    with pytest.raises(TypeError, match=r"a corpus must map IDs to texts.*; the list holds 7"):
        questions.lint([*corpus, 7])


def test_without_documents_what_is_not_confirmed_is_said() -> None:
    with pytest.warns(rm.RetrievalWarning, match="Pass documents=") as caught:
        assert rm.evaluate(QUESTIONS, RUN, "recall").means["recall"] == 0
    (warning,) = caught  # one finding for one fact
    assert "1 result could not be located in its source and nothing else matched, so every metric is 0: 1 with" in str(
        warning.message
    )
    questions: dict[str, list[rm.Span] | list[str]] = {"q": [SPAN], "p": ["d1"]}
    with pytest.warns(rm.RetrievalWarning, match="located in its source: 1 with unverified") as caught:
        assert rm.evaluate(questions, {**RUN, "p": [rm.Retrieved("d1")]}, "recall").means["recall"] == 0.5
    assert len(caught) == 1


def test_judgments_by_id_ignore_documents() -> None:
    by_id = rm.evaluate({"q": ["c1"]}, {"q": ["c1"]}, "recall", documents={"other": "text"})
    assert by_id.means["recall"] == 1


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("a.md", TypeError, "documents must be texts by the name of their source"),
        ({"a.md": None}, TypeError, "must map the name of each source to its text"),
        ([3], TypeError, "a list of documents of a framework"),
        ({"b.md": TEXT}, ValueError, "documents= has no text of 'a.md', nor of any other source"),
        ([rm.Retrieved("x", None, "a.md")], TypeError, "document 'x' has no text"),
        ([CHUNK], ValueError, "begins at 13 of 'a.md', so it is a chunk"),
        (
            [Document(f"page {page}", id=f"p{page}", metadata={"source": "a.md"}) for page in (1, 2)],
            ValueError,
            "two documents, 'p1' and 'p2', are both named 'a.md'",
        ),
        (
            [Document(f"page {page}", metadata={"source": "a.md"}) for page in (1, 2)],  # as a loader of PDF makes them
            ValueError,
            "two documents, one that begins with 'page 1' and one that begins with 'page 2', are both named 'a.md'",
        ),
    ],
)
def test_documents_that_cannot_be_used_are_refused_before_any_call(
    documents: Any, error: type[Exception], message: str
) -> None:
    queries: list[str] = []

    def retriever(text: str) -> list[rm.Retrieved]:
        queries.append(text)
        return [CHUNK]

    rows = [("what saves memory?", [SPAN])]
    with pytest.raises(error, match=message):
        rm.compare_retrievers({"a": retriever, "b": retriever}, QUESTIONS, "recall", documents=documents)
    with pytest.raises(error, match=message):
        evaluate_retriever(lambda text: [Document(text) for _ in retriever(text)], rows, "recall", documents=documents)
    with pytest.raises(error, match=message):
        rm.evaluate(QUESTIONS, RUN, "recall", documents=documents)
    assert not queries


def test_documents_of_a_generator_are_read_as_often_as_needed() -> None:
    document = rm.Retrieved("a", TEXT, source="a.md")
    generated = rm.evaluate(QUESTIONS, RUN, "recall", documents=iter([document]))
    assert generated.means == {"recall": 1.0}
    comparison = rm.compare(QUESTIONS, {"a": RUN, "b": RUN}, "recall", documents=iter([document]))
    assert comparison.evaluations["a"].means == {"recall": 1.0}


@pytest.mark.parametrize("documents", [3, True])
def test_documents_that_are_no_collection_are_refused_by_name(documents: Any) -> None:
    with pytest.raises(TypeError, match="documents must be texts by the name of their source"):
        rm.compare_retrievers(
            {"a": lambda _: [CHUNK], "b": lambda _: [CHUNK]}, QUESTIONS, "recall", documents=documents
        )
    with pytest.raises(TypeError, match="documents must be texts by the name of their source"):
        rm.evaluate(QUESTIONS, RUN, "recall", documents=documents)


def test_texts_cannot_be_passed_twice() -> None:
    matching = rm.Matching(sources={"a.md": TEXT})
    with pytest.raises(ValueError, match="not as both"):
        rm.evaluate(QUESTIONS, RUN, "recall", match=matching, documents={"a.md": TEXT})
    evaluation = rm.evaluate(QUESTIONS, RUN, "recall", match=matching)
    with pytest.raises(ValueError, match="documents cannot be changed"):
        rm.compare({"a": evaluation, "b": evaluation}, documents={"a.md": TEXT})


def test_langchain_takes_them() -> None:
    chunk = Document(FACT, id="c1", metadata={"source": "a.md", "start_index": 13})
    options: dict[str, Any] = {"documents": [Document(TEXT, metadata={"source": "a.md"})]}
    rows = [("what saves memory?", [SPAN])]
    assert evaluate_retriever(lambda _: [chunk], rows, "recall", **options).means["recall"] == 1
    assert asyncio.run(aevaluate_retriever(lambda _: [chunk], rows, "recall", **options)).means["recall"] == 1
    assert evaluate_retriever(lambda _: [chunk], QUESTIONS.with_sources({"a.md": TEXT}), "recall").means["recall"] == 1


@pytest.mark.parametrize("documents", [{"a.md": TEXT}, [LlamaDocument(text=TEXT, metadata={"file_name": "a.md"})]])
def test_llama_index_takes_them(documents: Any) -> None:
    node = TextNode(text=FACT, metadata={"file_name": "a.md"}, start_char_idx=13, end_char_idx=13 + len(FACT))
    evaluator = RetrieverEvaluator.from_metric_names(
        ["recall@1"], retriever=lambda _: [NodeWithScore(node=node)], source="file_name", documents=documents
    )
    rows = [("what saves memory?", [SPAN])]
    assert evaluator.evaluate_dataset(rows).means["recall@1"] == 1
    assert evaluator.evaluate("what saves memory?", [SPAN]).metric_vals_dict == {"recall@1": 1}
    assert evaluator.evaluate("by ID", [node.node_id]).metric_vals_dict == {"recall@1": 1}


def test_pytest_takes_them(request: pytest.FixtureRequest) -> None:
    settings = Settings("mean", 0.95, 0.05, 1, 0, "pass", "fail", 5, "baselines", "", "", update=False, accept_worse=())
    check = RetrievalCheck(request.node, settings, checks=1, records=[])
    checked = check(QUESTIONS, lambda _: [CHUNK], {"recall": 1}, documents={"a.md": TEXT})
    assert checked.evaluation.means["recall"] == 1


def test_the_command_line_takes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.md").write_text(TEXT, encoding="utf-8")
    QUESTIONS.save(tmp_path / "questions.json")
    rm.save_run(RUN, tmp_path / "run.json")
    files = [str(tmp_path / "questions.json"), str(tmp_path / "run.json")]
    options = ["-m", "recall", "--documents", str(tmp_path / "texts"), "--fail-under", "recall=1"]
    assert main(["evaluate", *files, *options]) == 0
    assert "recall" in capsys.readouterr().out


def test_a_set_keeps_its_sources(tmp_path: Path) -> None:
    questions = QUESTIONS.with_sources([Document(TEXT, metadata={"source": "a.md"}), Document("x", id="other")])
    assert questions == QUESTIONS
    assert rm.evaluate(questions, RUN, "recall").means["recall"] == 1
    assert list(questions.sources.texts) == ["a.md"] if questions.sources else False
    questions.save(tmp_path / "all.json", sources=True)
    loaded = rm.load(tmp_path / "all.json")
    assert rm.evaluate(loaded, RUN, "recall").means["recall"] == 1
    with pytest.raises(ValueError, match="no source texts to save"):
        QUESTIONS.save(tmp_path / "none.json", sources=True)


def test_a_changed_source_is_said(tmp_path: Path) -> None:
    QUESTIONS.with_sources({"a.md": TEXT}).save(tmp_path / "digests.json")
    assert TEXT not in (tmp_path / "digests.json").read_text(encoding="utf-8")
    loaded = rm.load(tmp_path / "digests.json")
    assert rm.evaluate(loaded, RUN, "recall", documents={"a.md": TEXT}).means["recall"] == 1
    with pytest.warns(rm.RetrievalWarning, match="1 judged source has changed"):
        rm.evaluate(loaded, RUN, "recall", documents={"a.md": f"Preface. {TEXT}"})


def test_merged_sets_keep_both_sources() -> None:
    other = rm.EvaluationSet({"p": "what is closed?"}, {"p": [rm.Span("b.md", 0, 5)]}).with_sources({"b.md": "Files."})
    merged = QUESTIONS.with_sources({"a.md": TEXT}).merge(other)
    assert merged.sources is not None
    assert merged.sources.texts == {"a.md": TEXT, "b.md": "Files."}
    with pytest.raises(ValueError, match=r"the text of source 'a\.md' differs"):
        merged.merge(QUESTIONS.with_sources({"a.md": TEXT + "!"}))


REFUSED = {"LlamaIndex: 5 pages by file_name", "LangChain: 5 pages, one source"}
"""Several documents of one name: which of them a span means, nobody can say."""


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_only_the_chunk_that_holds_a_fact_is_a_hit(case: Case) -> None:
    assert case.spans()
    for right, value in ((True, 1.0), (False, 0.0)):
        outcome = case.scored(right=right, documents=True)
        if case.name in REFUSED:
            assert outcome.value is None
            assert "named 'a.pdf'" in outcome.messages
        else:
            assert (outcome.value, outcome.unplaced) == (value, 0)
        blind = case.scored(right=right, documents=False)
        if blind.value is None:
            assert "named 'a.pdf'" in blind.messages
        elif blind.value != value or blind.unplaced:
            assert blind.value == 0
            assert blind.warned
            assert "no retrieved document is judged" not in blind.messages  # one finding for one fact
            assert not right or blind.unplaced == case.retrieved(right=right)


def test_they_are_all_in_one_table() -> None:
    assert len(table(cases()[:1]).splitlines()) == 2
