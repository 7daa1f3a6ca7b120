"""Evaluators and targets of LangSmith, driven by LangSmith itself, against a server that keeps what it is sent."""

import asyncio
import datetime as dt
import uuid
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langsmith import Client, aevaluate, evaluate, schemas
from langsmith.evaluation.evaluator import DynamicComparisonRunEvaluator
from langsmith.schemas import Example

import retrieval_metrics as rm
from langchain_hosts import Prepared
from langchain_retrieval_metrics import (
    evaluate_retriever,
    langsmith_comparative_evaluators,
    langsmith_dataset,
    langsmith_evaluators,
    langsmith_summary_evaluators,
    langsmith_target,
)
from local_service import JSONHandler, serving

ANSWERS = {"why?": ["d3", "d7"], "how?": ["d1"]}

METRICS = ["mrr", "recall@1"]


class Handler(JSONHandler):
    """Answers everything with nothing, and keeps what it was sent."""

    posted: list[bytes]

    def respond(self) -> None:
        if self.command == "POST":
            self.posted.append(self.body())
        self.answer({})


class Server(NamedTuple):
    address: str
    posted: list[bytes]


@pytest.fixture
def server() -> Iterator[Server]:
    posted: list[bytes] = []
    with serving(Handler, posted=posted) as address:
        yield Server(address, posted)


def make_client(server: Server) -> Client:
    return Client(api_url=server.address, api_key="none")


def examples() -> list[Example]:
    relevant: dict[str, Any] = {"why?": ["d7"], "how?": {"d1": 2}}
    return [
        Example(
            id=uuid.uuid4(),
            dataset_id=uuid.uuid4(),
            created_at=dt.datetime.now(dt.UTC),
            inputs={"query": query},
            outputs={"relevant": judged},
        )
        for query, judged in relevant.items()
    ]


def scores(row: Any) -> tuple[str, dict[str, Any]]:
    results = row["evaluation_results"]["results"]
    return row["example"].inputs["query"], {result.key: result.score for result in results}


@pytest.mark.filterwarnings("ignore")  # LangSmith says that evaluating without uploading is in beta
def test_langsmith_evaluates_and_is_sent_neither_query_nor_document(server: Server) -> None:
    client = make_client(server)
    rows = evaluate(
        langsmith_target(Prepared(answers=ANSWERS)),
        data=examples(),
        evaluators=langsmith_evaluators(METRICS),
        summary_evaluators=langsmith_summary_evaluators(METRICS),
        upload_results=False,
        client=client,
    )
    scores_by_query = dict(map(scores, rows))
    client.flush()
    assert scores_by_query == {"why?": {"mrr": 0.5, "recall@1": 0.0}, "how?": {"mrr": 1.0, "recall@1": 1.0}}
    assert not [sent for sent in server.posted if b"why?" in sent or b"text of" in sent]


@pytest.mark.parametrize(("form", "n_warnings"), [("D{}", 2), ("d{}", 0), ("x{}", 0)])
def test_ids_that_nearly_match_are_said_once_in_each_experiment(server: Server, form: str, n_warnings: int) -> None:
    rows: list[Example] = []
    for number in range(6):
        (example, _) = examples()
        rows.append(example.model_copy(update={"inputs": {"query": number}, "outputs": {"relevant": [f"d{number}"]}}))
    evaluators = langsmith_evaluators(METRICS)
    caught = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            answer = evaluate(
                lambda inputs: {"documents": [form.format(inputs["query"])]},
                data=rows,
                evaluators=evaluators,
                upload_results=False,
                client=make_client(server),
            )
            list(answer)
        caught += [warning for warning in recorded if issubclass(warning.category, rm.RetrievalWarning)]
    assert len(caught) == n_warnings
    for warning in caught:
        assert str(warning.message).startswith("in the first 3 examples, no retrieved document is judged")
        assert warning.filename == __file__


@pytest.mark.filterwarnings("ignore")  # as above
def test_langsmith_evaluates_asynchronously(server: Server) -> None:
    async def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"documents": ANSWERS[inputs["query"]]}

    client = make_client(server)

    async def evaluated() -> dict[str, Any]:
        rows = await aevaluate(
            target,
            data=examples(),
            evaluators=langsmith_evaluators(METRICS),
            upload_results=False,
            client=client,
        )
        return dict([scores(row) async for row in rows])

    assert asyncio.run(evaluated())["why?"] == {"mrr": 0.5, "recall@1": 0.0}
    client.flush()


def test_the_server_would_have_seen_what_is_sent(server: Server) -> None:
    client = make_client(server)
    client.create_run("a control", {"query": "why?"}, "chain")
    client.flush()
    assert [sent for sent in server.posted if b"why?" in sent]


def test_documents_come_as_themselves_as_json_or_as_ids() -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    documents = [Document("a", id="d3"), Document("b", id="d7")]
    for outputs in (documents, [document.model_dump() for document in documents], ["d3", "d7"]):
        (result,) = evaluator({"documents": outputs}, {"relevant": ["d7"]})["results"]
        assert result == {"key": "mrr", "score": 0.5, "comment": "1 relevant, 2 retrieved; relevant at rank 2"}


def test_ids_have_no_length_so_a_budget_refuses_them_and_a_failure_is_0_under_it() -> None:
    (evaluator,) = langsmith_evaluators("recall@10chars")
    with pytest.raises(ValueError, match="needs the lengths of the items, but the rankings hold only IDs"):
        evaluator({"documents": ["x", "d7"]}, {"relevant": ["d7"]})
    for outputs, error in (({"documents": []}, None), ({}, "KeyError")):
        run: Any = SimpleNamespace(error=error)
        (result,) = evaluator(outputs, {"relevant": ["d7"]}, run)["results"]
        assert result["score"] == 0.0


def test_ids_that_are_whole_numbers_stay_numbers_on_both_sides() -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    assert evaluator({"documents": [3, 7]}, {"relevant": [7]})["results"][0]["score"] == 0.5


def test_undefined_has_a_comment_and_no_score() -> None:
    (evaluator,) = langsmith_evaluators(["ndcg@10"])
    (result,) = evaluator({"documents": ["d1"]}, {"relevant": []})["results"]
    assert (result["key"], result["score"]) == ("ndcg@10", None)
    assert result["comment"].startswith("undefined, excluded from the mean: no relevant document, 1 retrieved")


def test_documents_are_judged_by_what_match_says() -> None:
    (evaluator,) = langsmith_evaluators("mrr", match="metadata:page", documents_key="found", relevant_key="pages")
    documents = [Document("a", metadata={"page": 1}), Document("b", metadata={"page": 7})]
    (result,) = evaluator({"found": documents}, {"pages": [7]})["results"]
    assert (result["key"], result["score"]) == ("mrr-match-metadata:page-documents_key-found-relevant_key-pages", 0.5)


def test_two_evaluators_stay_apart() -> None:
    outputs = {"documents": ["d3", "d7"], "reranked": ["d7", "d3"]}
    chosen: list[dict[str, Any]] = [{}, {"documents_key": "reranked"}, {"documents_key": "reranked", "prefix": "b "}]
    keys = []
    for settings in chosen:
        (evaluator,) = langsmith_evaluators("mrr", **settings)
        (result,) = evaluator(outputs, {"relevant": ["d7"]})["results"]
        keys.append((result["key"], result["score"]))
    assert keys == [("mrr", 0.5), ("mrr-documents_key-reranked", 1.0), ("b mrr", 1.0)]


@pytest.mark.parametrize(
    ("outputs", "reference", "message"),
    [
        ({"docs": []}, {"relevant": []}, "outputs has no 'documents', which .* needs; it has 'docs'"),
        ({"documents": []}, {"answer": "x"}, "reference_outputs has no 'relevant', .* it has 'answer'"),
        ({"documents": [Document("x")]}, {"relevant": ["d1"]}, "has no ID"),
        ({"documents": ["d1"]}, None, "it has nothing"),
    ],
)
def test_what_is_missing_is_named(outputs: Any, reference: Any, message: str) -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    with pytest.raises(ValueError, match=message):
        evaluator(outputs, reference)
    with pytest.raises(ValueError, match="the input of the example has no 'query'; it has 'question'"):
        langsmith_target(Prepared(answers={}))({"question": "why?"})


def test_names_that_mean_nothing_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="did you mean ndcg"):
        langsmith_evaluators("ndgc@3")
    with pytest.raises(ValueError, match="match must be 'id'"):
        langsmith_evaluators("mrr", match="text")


TEXT = "The with statement wraps a block. The yield expression makes a generator."


def example(query: str, relevant: Any, source: str | None = None) -> Any:
    metadata = None if source is None else {"source": source}
    return schemas.Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        inputs={"query": query},
        outputs=None if relevant is None else {"relevant": relevant},
        metadata=metadata,
    )


def run_of(documents: Any, error: str | None = None) -> Any:
    outputs = None if error else documents if isinstance(documents, dict) else {"documents": documents}
    return SimpleNamespace(id=uuid.uuid4(), outputs=outputs, error=error, session_id=None)


class Answering:
    """Answers as `langsmith.Client.list_examples` does, and keeps what it was asked."""

    def __init__(self, *examples: Any) -> None:
        self.examples = examples
        self.options: dict[str, Any] = {}

    def list_examples(self, **options: Any) -> Any:
        self.options = options
        return iter(self.examples)


@pytest.mark.parametrize("by", ["capitals", uuid.uuid4()])
def test_a_dataset_is_taken_by_its_name_or_id(by: Any) -> None:
    examples = [example("why?", ["d7"], "a.md"), example("how?", {"d1": 2}, "b.md")]
    client: Any = Answering(*examples)
    questions = langsmith_dataset(by, client=client, splits=["test"])
    assert client.options == {"dataset_name" if isinstance(by, str) else "dataset_id": by, "splits": ["test"]}
    assert dict(questions.queries) == {str(example_row.id): example_row.inputs["query"] for example_row in examples}
    answers = {"why?": ["d3", "d7"], "how?": ["d1"]}
    evaluation = evaluate_retriever(
        lambda query: [Document("", id=document_id) for document_id in answers[query]], questions, "mrr"
    )
    assert evaluation.means == {"mrr": 0.75}
    with pytest.raises(ValueError, match="has no examples"):
        langsmith_dataset(by, client=Answering())  # type: ignore[arg-type]  # as above


def test_two_experiments_are_compared_by_langsmith_itself() -> None:
    ndcg, mrr = (
        DynamicComparisonRunEvaluator(evaluator) for evaluator in langsmith_comparative_evaluators(["ndcg@10", "mrr"])
    )
    better = run_of(["d7"])
    worse = run_of(["x", "d7"])
    failed = run_of(None, "KeyError")
    comparison = mrr.compare_runs([better, worse, failed], example("why?", ["d7"]))
    assert (comparison.key, comparison.scores) == ("mrr", {better.id: 1.0, worse.id: 0.5, failed.id: 0.0})
    assert comparison.comment == {
        better.id: "1 relevant, 1 retrieved; relevant at rank 1",
        worse.id: "1 relevant, 2 retrieved; relevant at rank 2",
        failed.id: "1 relevant, 0 retrieved; the target failed: KeyError",
    }
    assert ndcg.compare_runs([better, worse], example("why?", ["d7"])).key == "ndcg@10"
    with pytest.warns(rm.RetrievalWarning, match="reference_outputs has no 'relevant'"):
        unjudged = mrr.compare_runs([better, worse], example("why?", None))
    assert unjudged.scores == {}
    assert "reference_outputs has no 'relevant'" in str(unjudged.comment)
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        half = mrr.compare_runs([better, run_of({"docs": []})], example("why?", ["d7"]))
    assert half.scores == {better.id: 1.0}
    names = [
        evaluator([better], example("why?", ["d7"]))["key"]
        for evaluator in langsmith_comparative_evaluators("mrr", prefix="a ")
    ]
    assert names == ["a mrr"]


SPAN = [{"type": "span", "source": "page.md", "start": 34, "end": 73}]

RIGHT = Document(TEXT[34:], metadata={"source": "page.md", "start_index": 34})

MOVED = Document(TEXT[:33], metadata={"source": "page.md", "start_index": 34})  # the offset of another chunk


def test_spans_are_checked_against_their_documents() -> None:
    pages = {"page.md": TEXT}
    (plain,) = langsmith_evaluators("mrr")
    (checked,) = langsmith_evaluators("mrr", documents=pages)
    reference = {"relevant": SPAN}
    assert checked({"documents": [RIGHT]}, reference)["results"][0]["score"] == 1.0
    assert checked({"documents": [MOVED, RIGHT]}, reference)["results"][0]["score"] == 0.5
    assert (
        checked({"documents": [Document(TEXT[34:], metadata={"source": "page.md"})]}, reference)["results"][0]["score"]
        == 1.0
    )
    assert plain({"documents": ["d7"]}, {"relevant": ["d7"]}) == checked({"documents": ["d7"]}, {"relevant": ["d7"]})
    (summary,) = langsmith_summary_evaluators("mrr", documents=pages)
    (result,) = summary([run_of([MOVED, RIGHT])], [example("what?", SPAN)])["results"]
    assert result["score"] == 0.5
    (pair,) = langsmith_comparative_evaluators("mrr", documents=pages)
    assert list(pair([run_of([MOVED, RIGHT])], example("what?", SPAN))["scores"].values()) == [0.5]


@pytest.mark.filterwarnings("ignore:.*judged queries")
def test_an_output_that_cannot_be_judged_is_left_out_of_the_summary_and_counted() -> None:
    (summary,) = langsmith_summary_evaluators("mrr")
    judged = [example(query, ["d7"]) for query in ("a", "b", "c")]
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        (result,) = summary([run_of(["d7"]), run_of({"docs": []}), run_of(None, "KeyError")], judged)["results"]
    assert result["score"] == 0.5
    assert "1 failed and count as 0; 1 output left out (cannot be judged)" in result["comment"]
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged"):
        (none,) = summary([run_of({"docs": []})], judged[:1])["results"]
    assert (none["score"], none["comment"][:26]) == (None, "no output can be judged: t")


def test_the_largest_grade_is_that_of_all_judgments() -> None:
    grades = [{"d1": 1}, {"d1": 3}]
    examples = [example("why?", grades[0]), example("how?", grades[1])]
    runs = [run_of(["x", "d1"]), run_of(["d1"])]
    run = {"why": ["x", "d1"], "how": ["d1"]}
    qrels = dict(zip(run, grades, strict=True))
    for make in (langsmith_evaluators, langsmith_comparative_evaluators):
        with pytest.raises(ValueError, match=r"err divides by the largest grade of all judgments.*max_grade="):
            make(["mrr", "err"])
    expected = rm.evaluate(qrels, run, "err")
    (single,) = langsmith_evaluators("err", max_grade=3, prefix="")
    (compared,) = langsmith_comparative_evaluators("err", max_grade=3, prefix="")
    for example_row, example_run, value in zip(examples, runs, expected.per_query["err"].values(), strict=True):
        assert single(example_run.outputs, example_row.outputs)["results"][0]["score"] == value
        assert compared([example_run], example_row)["scores"] == {example_run.id: value}
    for max_grade, name in [(None, "err"), (4, "err(max_grade=4)")]:
        (summary,) = langsmith_summary_evaluators("err", max_grade=max_grade, prefix="")
        assert summary(runs, examples)["results"][0]["score"] == rm.evaluate(qrels, run, name).means[name]
