"""Questions are checked before a retriever is asked, and its first answer before the second question."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_task import make_first_answer_check
from retrieval_metrics.inputs import hosts
from retrieval_metrics.integration_api import EvaluationTask, HostAdapter

QUESTIONS = rm.EvaluationSet({"q1": "one?", "q2": "two?"}, {"q1": ["d1"], "q2": {"d2": 2, "d3": 1}})


RESULTS: Any = {"one?": [rm.Retrieved("x"), rm.Retrieved("d1")], "two?": [rm.Retrieved("d3"), rm.Retrieved("d2")]}


def test_what_was_asked_is_evaluated_as_by_the_core() -> None:
    task = EvaluationTask(QUESTIONS, ["mrr", "ndcg"])
    run = rm.retrieve(RESULTS.__getitem__, **task.retrieve_arguments)
    evaluation = task.evaluation(run)
    assert evaluation.means == rm.evaluate(QUESTIONS, run, ["mrr", "ndcg"]).means
    scores = task.query_scores(run)
    assert task.query_scores(evaluation) == scores
    assert [score.relevant_ranks for score in scores[evaluation.metrics[0]].values()] == [(2,), (1, 2)]


def test_documents_are_called_for_only_if_a_span_is_judged() -> None:
    def never() -> Any:
        raise AssertionError("nobody needs the documents")

    assert EvaluationTask(QUESTIONS, "mrr", documents=never).sources == set()
    questions = [("what?", [rm.Span("book", 0, 5)])]
    task = EvaluationTask(questions, "recall@1", documents=lambda: {"book": "first second"})
    assert task.sources == {"book"}
    run = rm.retrieve(lambda _: [rm.Retrieved("c", "first", source="book")], **task.retrieve_arguments)
    assert task.evaluation(run).means["recall@1"] == 1.0


TEXTS = [f"text {number}" for number in range(500)]


MANY_QUESTIONS = rm.EvaluationSet.from_dataset([(text, ["d1"]) for text in TEXTS])


WITHOUT_ID = rm.Retrieved(None, "A closure is a function.", metadata={"file": "a.md", "title": "Closures"})


class Page:
    """A document of a host that the tests make up."""

    __module__ = "pages_host.documents"

    def __init__(self, name: str | None) -> None:
        self.name = name


class Search:
    """A retriever of that host."""

    __module__ = "pages_host.search"

    def __init__(self, *pages: Page) -> None:
        self.pages = pages
        self.n_calls = 0

    def look_up(self, _: str) -> list[Page]:
        self.n_calls += 1
        return list(self.pages)


def convert_pages(pages: Sequence[Page]) -> list[rm.Retrieved]:
    return [rm.Retrieved(page.name) for page in pages]


@pytest.fixture
def pages_host(monkeypatch: pytest.MonkeyPatch) -> None:
    host = HostAdapter(
        name="pages", resolve_retriever=lambda thing: getattr(thing, "look_up", None), convert_items=convert_pages
    )
    point = SimpleNamespace(load=lambda: host)
    monkeypatch.setattr(hosts, "_entry_point_by_module", lambda: {"pages_host": point})


def make_retriever(answer: Any) -> tuple[Callable[[str], Any], list[str]]:
    """Return a retriever with the same answer for each text, and the texts it was called with."""
    texts: list[str] = []

    def retriever(text: str) -> Any:
        texts.append(text)
        return answer

    return retriever, texts


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, "returned None for query 'text 0'; does it lack a return"),
        ("d1", TypeError, r"is the bare string 'd1'; write a list: \['d1'\]"),
        ({"d1"}, TypeError, "a set has no order"),
        ([["d1", "d2"]], TypeError, r"lists such as \['d1', 'd2'\] for query 'text 0'; return one list of IDs"),
        ([("d1", 0.5)], TypeError, r"pairs such as \('d1', 0.5\) for query 'text 0'; return dict\(found\)"),
        ([(Page("d1"), 0.5)], TypeError, r"pairs such as \(Page, float\) .*; return \[document for document, score"),
        ([{"id": "d1", "text": "?"}], TypeError, r"returned dicts with keys 'id', 'text' .*: \[rm.Retrieved"),
        (
            {"documents": ["d1"], "query": "?"},
            TypeError,
            "with a list under 'documents'; .* nothing but document",
        ),
        ({"d1": float("nan")}, ValueError, "the score of document 'd1' for query 'text 0' is nan"),
        ([object()], TypeError, "returned objects of type object .*; return the IDs"),
        (["d1", None], TypeError, "document IDs retrieved for query 'text 0' must be str or int, got NoneType"),
        (["d1", 2], TypeError, "are partly str and partly int"),
        ([1, 2], TypeError, "document IDs in the judgments are str and those that were retrieved are int"),
        ({7: 0.5}, TypeError, "document IDs in the judgments are str and those that were retrieved are int"),
        (iter(["d1"]), TypeError, "must be a list of document IDs, best first"),
        ([WITHOUT_ID], ValueError, "1 of 1 documents retrieved for query 'text 0' have no ID, and the judgments are"),
    ],
)
def test_what_cannot_be_evaluated_is_raised_after_one_question(
    answer: Any, error: type[Exception], message: str
) -> None:
    retriever, texts = make_retriever(answer)
    with pytest.raises(error, match=message) as caught:
        rm.retrieve(retriever, MANY_QUESTIONS)
    assert texts == ["text 0"]
    assert caught.value.__notes__ == ["this is the first answer, to query 'text 0' ('text 0')"]


@pytest.mark.parametrize("answer", [["d1"], ("d1", "d2"), {"d1": 0.5}, np.array(["d1"]), [rm.Retrieved("d1")], []])
def test_every_kind_of_ranking_is_taken(answer: Any) -> None:
    retriever, texts = make_retriever(answer)
    run = rm.retrieve(retriever, MANY_QUESTIONS)
    assert len(texts) == 500
    assert run.errors == {}
    assert len(run["text 7"]) == len(answer)


def test_an_id_is_not_missed_where_judgments_ask_for_something_else() -> None:
    retriever, _ = make_retriever([WITHOUT_ID])
    by_quote = rm.EvaluationSet.from_dataset([("what is a closure?", [rm.Quote("a closure is")])])
    assert rm.retrieve(retriever, by_quote)["what is a closure?"] == [WITHOUT_ID]
    assert rm.retrieve(retriever, MANY_QUESTIONS.queries)["text 3"] == [
        WITHOUT_ID
    ]  # nobody said what they are judged by
    assert not rm.retrieve(retriever, MANY_QUESTIONS, match="metadata:file").errors
    assert not rm.retrieve(retriever, MANY_QUESTIONS, match=rm.Matching(by=lambda item: item.value("title"))).errors


def test_a_metadata_key_that_is_missing_is_named_with_those_that_are_there() -> None:
    retriever, texts = make_retriever([WITHOUT_ID])
    with pytest.raises(ValueError, match="value for match='metadata:page'; the metadata of the first has 'file', 't"):
        rm.retrieve(retriever, MANY_QUESTIONS, match="metadata:page")
    assert len(texts) == 1
    with pytest.raises(ValueError, match="the first has 'file', 'title'; write match='metadata:file'"):
        rm.retrieve(retriever, MANY_QUESTIONS, match="metadata:files")
    texts.pop()
    with pytest.raises(
        ValueError, match="match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got 'page'"
    ):
        rm.retrieve(retriever, MANY_QUESTIONS, match="page")
    assert len(texts) == 1


def test_ids_alone_are_too_little_for_quotes() -> None:
    retriever, texts = make_retriever(["d1"])
    questions = rm.EvaluationSet.from_dataset([(text, [rm.Quote("a closure is")]) for text in TEXTS])
    with pytest.raises(TypeError, match="returned only IDs for query 'text 0', but the judgments or match= need"):
        rm.retrieve(retriever, questions)
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("judgment", "match"), [(rm.Quote("wiki"), "id"), (rm.Quote("long enough"), rm.Matching(min_quote_length=40))]
)
def test_a_judgment_that_no_answer_could_satisfy_costs_no_call(judgment: rm.Quote, match: Any) -> None:
    retriever, texts = make_retriever([rm.Retrieved("d1", "a text that is long enough")])
    questions = rm.EvaluationSet.from_dataset(
        [*((text, [rm.Text("a text of five words here")]) for text in TEXTS), ("q", [judgment])]
    )
    with pytest.raises(ValueError, match=f"the quote {judgment.text!r} for query 'q' has"):
        rm.retrieve(retriever, questions, match=match)
    with pytest.raises(ValueError, match=f"the quote {judgment.text!r} for query 'q' has"):
        asyncio.run(rm.aretrieve(retriever, questions, match=match))
    too_long = rm.EvaluationSet.from_dataset([("q", [rm.Span("d", 0, 30)])]).with_sources({"d": "A short text."})
    with pytest.raises(ValueError, match="for query 'q' ends beyond its source, which has 13 characters"):
        rm.retrieve(retriever, too_long)
    assert not texts
    assert len(rm.retrieve(retriever, questions, match=rm.Matching(min_quote_length=3))) == len(questions)


@pytest.mark.parametrize(
    ("answer", "metrics", "options", "message"),
    [
        (["d1"], "recall@2000chars", {}, "a cutoff of 2000chars needs the lengths of the items"),
        ([rm.Retrieved("d1")], "recall@2000chars", {}, "has neither text nor offsets"),
        ([rm.Retrieved("d1", "?")], "recall@800tokens", {}, "has no token count"),
        (["d1", "d1"], "mrr", {"rules": "trec_eval"}, "holds a document twice"),
    ],
)
def test_what_metrics_and_rules_need_is_tried_on_the_first_answer(
    answer: Any, metrics: str, options: dict[str, Any], message: str
) -> None:
    retriever, texts = make_retriever(answer)
    check = make_first_answer_check(MANY_QUESTIONS.qrels, metrics, **options)
    with pytest.raises(ValueError, match=message):
        rm.retrieve(retriever, MANY_QUESTIONS, check=check)
    assert len(texts) == 1


def test_the_check_sees_the_first_answer_that_holds_something_and_no_other() -> None:
    checked_runs: list[Any] = []

    def retriever(text: str) -> list[str]:
        if text == "text 0":
            raise ConnectionError("not yet there")
        return [] if text == "text 1" else [text]

    run = rm.retrieve(retriever, MANY_QUESTIONS, workers=1, check=checked_runs.append)
    assert checked_runs == [{"text 2": ["text 2"]}]
    assert list(run.errors) == ["text 0"]


def test_a_later_answer_that_cannot_be_read_is_the_failure_of_its_query() -> None:
    def retriever(text: str) -> Any:
        if text == "text 7":
            return [WITHOUT_ID]
        if text == "text 8":
            return None
        return ["d1"]

    run = rm.retrieve(retriever, MANY_QUESTIONS)
    assert list(run.errors) == ["text 7", "text 8"]
    assert "have no ID" in str(run.errors["text 7"])
    assert run["text 7"] == run["text 8"] == []
    with pytest.raises(ValueError, match="have no ID") as caught:
        rm.retrieve(retriever, MANY_QUESTIONS, workers=1, raise_on_error=True)
    assert caught.value.__notes__[0].startswith("while retrieving for query 'text 7'; raise_on_error=False")


@pytest.mark.usefixtures("pages_host")
def test_a_retriever_of_a_host_is_asked_as_its_integration_says() -> None:
    search = Search(Page("d2"), Page("d1"))
    run = rm.retrieve(search, MANY_QUESTIONS)  # type: ignore[arg-type]  # no host that the types know
    assert search.n_calls == 500
    assert run["text 3"] == [rm.Retrieved("d2"), rm.Retrieved("d1")]
    assert rm.evaluate(MANY_QUESTIONS.qrels, run, "mrr").means["mrr"] == 0.5


@pytest.mark.usefixtures("pages_host")
def test_documents_of_a_host_are_read_from_a_plain_function_too() -> None:
    search = Search(Page("d2"), Page("d1"))
    assert rm.retrieve(search.look_up, MANY_QUESTIONS)["text 3"] == [rm.Retrieved("d2"), rm.Retrieved("d1")]


@pytest.mark.usefixtures("pages_host")
def test_an_integration_may_convert_the_answers_itself() -> None:
    search = Search(Page("d2"), Page("d1"))

    def by_rank(pages: Sequence[Page]) -> list[rm.Retrieved]:
        return [rm.Retrieved(page.name, metadata={"rank": rank}) for rank, page in enumerate(pages, start=1)]

    run = rm.retrieve(search, MANY_QUESTIONS, convert=by_rank)  # type: ignore[arg-type]  # no host that the types know
    assert [item.value("rank") for item in run["text 3"]] == [1, 2]
    assert rm.retrieve(search.look_up, MANY_QUESTIONS, convert=by_rank) == run


@pytest.mark.usefixtures("pages_host")
def test_500_questions_to_a_retriever_of_documents_without_ids_cost_one_call() -> None:
    search = Search(Page("d1"), Page(None))
    with pytest.raises(ValueError, match="1 of 2 documents retrieved for query 'text 0' have no ID"):
        rm.retrieve(search, MANY_QUESTIONS)  # type: ignore[arg-type]  # no host that the types know
    assert search.n_calls == 1


def test_a_store_is_not_a_retriever() -> None:
    class Store:
        def as_retriever(self) -> object:
            return self

    with pytest.raises(TypeError, match=r"got Store; write as_retriever\(\) behind it"):
        rm.retrieve(Store(), MANY_QUESTIONS)  # type: ignore[arg-type]
