"""Documents of LangChain as items of the core."""

from pathlib import Path
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
    assert raised.value.__notes__ == ["this is the first answer, to query 'why?' ('why?')"]


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
        ("ids", ValueError, "match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got 'ids'"),
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


class TestFilesOfAFolder:
    """Loaders write whole paths and give no ids; people judge names of files."""

    DOCUMENTS = [
        Document("Dogs may board with a ticket.", metadata={"source": "/data/docs/animals.md"}),
        Document("Bicycles cost nothing on weekdays.", metadata={"source": "/data/docs/bicycles.md"}),
    ]
    QUESTIONS = [("Can I take my dog?", ["animals.md"]), ("Can I take my bicycle?", ["bicycles.md"])]

    def retriever(self) -> Prepared:
        return Prepared(answers={query: self.DOCUMENTS for query, _ in self.QUESTIONS})

    def test_names_of_files_are_matched_saved_and_loaded(self, tmp_path: Path) -> None:
        result = evaluate_retriever(self.retriever(), self.QUESTIONS, "mrr", match="filename", documents=self.DOCUMENTS)
        assert list(result.per_query["mrr"].values()) == [1.0, 0.5]
        result.save(tmp_path / "result.json")
        loaded = rm.load(tmp_path / "result.json")
        assert loaded.means == result.means
        assert loaded.scores.require_origin("loaded").match == "filename"

    def test_they_are_recommended_where_no_path_matches(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match="the judged ID 'animals.md': pass match='filename'"):
            evaluate_retriever(self.retriever(), self.QUESTIONS, "mrr", match="source")

    def test_a_mistyped_name_is_an_error_before_any_call(self) -> None:
        questions = [("Can I take my dog?", ["animal.md"])]
        retriever = Prepared(answers={})
        with pytest.raises(ValueError, match=r"'animal.md' \(did you mean 'animals.md'\?\)"):
            evaluate_retriever(retriever, questions, "mrr", match="filename", documents=self.DOCUMENTS)

    def test_lint_takes_the_documents(self) -> None:
        questions = rm.EvaluationSet.from_dataset(self.QUESTIONS)
        found = [finding.name for finding in questions.lint(self.DOCUMENTS, match="filename")]
        assert "unknown_document" not in found
        mistyped = rm.EvaluationSet.from_dataset([("Can I take my dog?", ["animal.md"])])
        assert mistyped.lint(self.DOCUMENTS, match="filename").counts["unknown_document"] == 1
        assert "unknown_document" not in mistyped.lint(self.DOCUMENTS).counts


D1 = Document("because", id="d1")
D2 = Document("why not", id="d2")


@pytest.mark.parametrize(
    "answer",
    [
        [D2, D1],
        [(D2, 0.1), (D1, 0.9)],  # distances
        [(D2, 0.9), (D1, 0.1)],  # similarities
        ["d2", "d1"],
    ],
)
def test_a_function_returns_documents_pairs_or_ids(answer: list[Any]) -> None:
    result = evaluate_retriever(lambda _text: answer, ROWS[:1], ["mrr", "hit_rate@1"])
    assert result.means == {"mrr": 0.5, "hit_rate@1": 0.0}


@pytest.mark.parametrize("answer", [[(0.1, D1)], [("d1", 0.5)], [True], [D1, "d2"], [{"id": "d1"}]])
def test_other_answers_are_refused_with_what_to_return(answer: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"a list of Documents, of \(Document, score\) pairs, or of ids; it holds"):
        evaluate_retriever(lambda _text: answer, ROWS[:1], "mrr")


def test_a_path_is_a_source_as_its_text_is() -> None:
    path = Path("docs/guide.md")
    answers = {"why?": [Document("because", metadata={"source": path, "start_index": 0})]}
    judged_by_match: dict[str, Any] = {
        "filename": ["guide.md"],
        "source": ["docs/guide.md"],
        "metadata:source": ["docs/guide.md"],
    }
    for match, judged in judged_by_match.items():
        result = evaluate_retriever(Prepared(answers=answers), [("why?", judged)], "recall", match=match)
        assert result.means == {"recall": 1.0}
