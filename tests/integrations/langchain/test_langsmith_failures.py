"""What fails under LangSmith scores 0 and says why; no question drops out of a mean, and summaries know their n."""

import datetime as dt
import json
import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langsmith import Client, evaluate
from langsmith.schemas import Example

import retrieval_metrics as rm
from langchain_hosts import Prepared
from langchain_retrieval_metrics import (
    evaluate_retriever,
    langsmith_evaluators,
    langsmith_summary_evaluators,
    langsmith_target,
)

ANSWERS: dict[str, Any] = {
    "q0": ["d"],
    "q1": ConnectionError("no index"),
    "q2": ["d"],
    "q3": ConnectionError("no index"),
}


def example(query: str, relevant: Any, **outputs: Any) -> Example:
    return Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        created_at=dt.datetime.now(dt.UTC),
        inputs={"query": query},
        outputs={"relevant": relevant} | outputs,
    )


def examples() -> list[Example]:
    return [example(query, ["d"]) for query in ANSWERS]


def evaluated(target: Any, data: Any, evaluators: Any, summary_evaluators: Any = (), **options: Any) -> Any:
    return evaluate(
        target,
        data=data,
        evaluators=evaluators,
        summary_evaluators=summary_evaluators,
        upload_results=False,
        client=Client(api_url="http://127.0.0.1:9", api_key="none", info={}, auto_batch_tracing=False),
        **options,
    )


@pytest.mark.filterwarnings("ignore")  # LangSmith says that evaluating without uploading is in beta
def test_a_target_that_fails_scores_0_and_keeps_its_error() -> None:
    rows = evaluated(langsmith_target(Prepared(answers=ANSWERS)), examples(), langsmith_evaluators("mrr"))
    frame = rows.to_pandas()
    assert [name for name in frame if name.startswith("feedback.")] == ["feedback.mrr"]
    assert frame["feedback.mrr"].mean() == 0.5
    comments = {}
    for row in rows:
        (result,) = row["evaluation_results"]["results"]
        comments[row["example"].inputs["query"]] = result.comment
    assert comments["q0"] == "1 relevant, 1 retrieved; relevant at rank 1"
    assert comments["q1"] is not None
    assert "0 retrieved; the target failed: ConnectionError('no index')" in comments["q1"]


@pytest.mark.filterwarnings("ignore")  # as above
def test_the_mean_of_the_summary_counts_failures_and_has_interval_and_n() -> None:
    rows = evaluated(
        langsmith_target(Prepared(answers=ANSWERS)), examples(), [], langsmith_summary_evaluators(["mrr", "recall@1"])
    )
    list(rows)
    mrr, recall = rows._summary_results["results"]
    with pytest.warns(rm.RetrievalWarning, match="2 of 4 .*judged queries"):
        ours = evaluate_retriever(Prepared(answers=ANSWERS), examples(), ["mrr", "recall@1"])
    low, high = ours.intervals(0.95)["mrr"]
    assert (mrr.key, mrr.score, recall.key, recall.score) == ("mrr", 0.5, "recall@1", 0.5)
    assert mrr.comment == f"95% CI [{low:.3f}, {high:.3f}], n = 4; 2 failed and count as 0"


@pytest.mark.filterwarnings("ignore")  # as above
def test_where_every_example_failed_the_summary_has_the_reason_and_no_number() -> None:
    target = langsmith_target(Prepared(answers=dict.fromkeys(ANSWERS, PermissionError("401"))))
    rows = evaluated(target, examples(), [], langsmith_summary_evaluators("mrr"))
    list(rows)
    (mrr,) = rows._summary_results["results"]
    assert mrr.score is None
    assert mrr.comment.startswith("every example failed, so nothing is scored: the target failed: PermissionError")


@pytest.mark.filterwarnings("ignore")  # as above
def test_repetitions_of_an_example_are_one_cluster() -> None:
    data = [example(f"q{number}", ["d"]) for number in range(12)]
    answers = {f"q{number}": [["x"], ["d"]][number % 2] for number in range(12)}
    summaries = {}
    for times in (1, 4):
        rows = evaluated(
            langsmith_target(Prepared(answers=answers)),
            data,
            [],
            langsmith_summary_evaluators("mrr"),
            num_repetitions=times,
        )
        list(rows)
        (summaries[times],) = rows._summary_results["results"]
    lows = {times: float(summary.comment.split("[")[1].split(",")[0]) for times, summary in summaries.items()}
    assert summaries[4].comment.endswith("n = 48 runs of 12 examples")
    assert lows[4] == pytest.approx(lows[1], abs=0.03)  # 48 independent ones would have 0.35


@pytest.mark.filterwarnings("ignore:.*beta")
def test_an_output_that_cannot_be_read_has_no_score_but_the_error_and_is_warned_of() -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    run = type("Run", (), {"error": None})()
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged.*has no 'documents'.*; it has 'docs'"):
        (result,) = evaluator({"docs": []}, {"relevant": ["d"]}, run)["results"]
    assert result == {
        "key": "mrr",
        "score": None,
        "comment": "the output cannot be judged: outputs has no 'documents', which the path 'outputs.documents' needs; "
        "it has 'docs'",
    }


@pytest.mark.filterwarnings("ignore:.*beta")
@pytest.mark.parametrize(
    ("documents", "relevant", "message"),
    [
        (["d"], "d", "the judgments of the example are the bare string 'd'"),
        (["d"], [7], "IDs in the judgments are int and those in what was retrieved are str"),
        ([3.5], ["d"], "the output cannot be judged: "),
    ],
)
def test_what_cannot_be_judged_is_said_of_the_example(documents: list[Any], relevant: Any, message: str) -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        evaluator({"documents": documents}, {"relevant": relevant})
    assert "query" not in str(raised.value)
    assert "the row" not in str(raised.value)


def test_a_failed_question_without_truth_stays_undefined() -> None:
    (evaluator,) = langsmith_evaluators(["mrr", "judged@3"])
    run = type("Run", (), {"error": "TimeoutError()"})()
    mrr, _ = evaluator({}, {"relevant": []}, run)["results"]
    _, judged = evaluator({}, {"relevant": ["d"]}, run)["results"]
    assert (mrr["score"], judged["score"]) == (None, None)
    assert mrr["comment"].startswith("undefined, excluded from the mean: no relevant document")
    assert judged["comment"].startswith("undefined, excluded from the mean: 1 relevant, 0 retrieved")


CONTEXT = [Document("a", id="d3"), Document("b", id="d7")]


@pytest.mark.filterwarnings("ignore")  # as above
def test_a_chain_that_returns_answer_and_context_is_judged_by_its_context() -> None:
    chain: Any = RunnableLambda(lambda inputs: {"answer": f"because {inputs['query']}", "context": CONTEXT})
    rows = evaluated(
        langsmith_target(chain, query_key=None, documents_key="context"),
        [example("why?", ["d7"], answer="because")],
        langsmith_evaluators("mrr", documents_key="context"),
    )
    (row,) = rows
    assert row["run"].outputs["answer"] == "because why?"
    assert row["evaluation_results"]["results"][0].score == 0.5


def test_a_chain_that_takes_a_text_hands_on_its_whole_answer() -> None:
    target = langsmith_target(
        RunnableLambda(lambda query: {"answer": query, "context": CONTEXT}), documents_key="context"
    )
    assert target({"query": "why?"}) == {"answer": "why?", "context": CONTEXT}


@pytest.mark.parametrize("as_rows", [False, True])
def test_examples_and_their_json_are_a_dataset(as_rows: bool) -> None:
    data: Any = [example("q0", ["d"], answer="x"), example("q2", {"d": 2})]
    if as_rows:
        data = [{"inputs": example_row.inputs, "outputs": example_row.outputs} for example_row in data]
    result = evaluate_retriever(Prepared(answers=ANSWERS), data, "mrr")
    names = ["q0", "q2"] if as_rows else [str(example_row.id) for example_row in data]
    assert result.per_query["mrr"] == dict.fromkeys(names, 1.0)


def test_an_example_without_judgments_is_named() -> None:
    with pytest.raises(ValueError, match=r"row 1 has no 'relevant'.*it has .*'answer'"):
        evaluate_retriever(Prepared(answers=ANSWERS), [{"inputs": {"query": "q0"}, "outputs": {"answer": "x"}}], "mrr")


def sourced(count: int) -> list[Example]:
    return [
        example(f"q{number}", ["d"]).model_copy(update={"metadata": {"source": f"{number // 10}.md"}})
        for number in range(count)
    ]


@pytest.mark.filterwarnings("ignore:.*beta", "ignore:only .* clusters")
def test_examples_keep_their_id_and_their_source_everywhere() -> None:
    data = sourced(40)
    answers = {f"q{number}": [["x"], ["d"]][number // 10 % 2] for number in range(40)}
    retriever = Prepared(answers=answers)
    ours = evaluate_retriever(retriever, data, "mrr")
    run = {str(example_row.id): answers[f"q{number}"] for number, example_row in enumerate(data)}
    core = rm.evaluate(rm.EvaluationSet.from_dataset(data), run, "mrr")
    assert ours.per_query["mrr"] == core.per_query["mrr"]
    assert ours.intervals() == core.intervals()
    assert ours.scores.clusters is not None
    assert ours.scores.clusters.count == 4
    other = rm.compare_retrievers({"one": retriever, "other": retriever}, data, "mrr").evaluations["one"]
    rm.compare({"ours": ours, "core": other})  # of the same questions
    rows = evaluated(langsmith_target(retriever), data, [], langsmith_summary_evaluators("mrr"))
    list(rows)
    (summary,) = rows._summary_results["results"]
    low, high = core.intervals(0.95)["mrr"]
    assert summary.comment == f"95% CI [{low:.3f}, {high:.3f}], n = 40"


def test_two_examples_can_ask_the_same() -> None:
    data = [example("q0", ["d"]), example("q0", ["other"])]
    assert evaluate_retriever(Prepared(answers=ANSWERS), data, "mrr").means["mrr"] == 0.5


@pytest.mark.filterwarnings("ignore:.*beta")
def test_an_example_without_judgments_is_counted_and_deletes_nothing() -> None:
    data = [example("q0", ["d"]), example("q2", ["d"])]
    data.append(example("q0", []).model_copy(update={"outputs": {"answer": "x"}}))
    target = langsmith_target(Prepared(answers=ANSWERS))
    with pytest.warns(rm.RetrievalWarning, match="reference_outputs has no 'relevant'") as caught:
        rows = evaluated(target, data, langsmith_evaluators("mrr"), langsmith_summary_evaluators("mrr"))
    ours = [warning for warning in caught if issubclass(warning.category, rm.RetrievalWarning)]
    assert {warning.filename for warning in ours} == {__file__}
    frame = rows.to_pandas()
    assert [name for name in frame if name.startswith("feedback.")] == ["feedback.mrr"]
    assert frame["feedback.mrr"].mean() == 1
    (summary,) = rows._summary_results["results"]
    assert summary.score == 1
    assert summary.comment.endswith(
        "n = 2; 1 example left out (no judgments): reference_outputs has no 'relevant', which the path "
        "'reference_outputs.relevant' needs; it has 'answer'"
    )
    rows = evaluated(target, data[2:], langsmith_evaluators("mrr"), langsmith_summary_evaluators("mrr"))
    list(rows)
    (summary,) = rows._summary_results["results"]
    assert (summary.score, summary.comment.startswith("no example is judged")) == (None, True)


SPOKEN = "Refunds take five working days. Shipping is free."
JUDGED: dict[str, Any] = {
    "quote": [rm.Quote("five working days")],
    "texts": {rm.Text(SPOKEN): 2, rm.Quote("Shipping is free"): 1},
    "span": [rm.Span("shop.md", 0, 10)],
    "groups": [[rm.Quote("Shipping is free"), "d9"], ["d1"]],
    "graded": {"d1": 2, "d9": 0},
    "numbers": {7: 2, 9: 1},
    "nothing": [],
}


@pytest.mark.parametrize("kind", list(JUDGED))
def test_questions_come_back_from_langsmith_as_they_were(kind: str) -> None:
    provenance = rm.Provenance(source="shop.md", kind="fact", labels={"by": "Ada"})
    questions = rm.EvaluationSet({"q1": f"why {kind}?"}, {"q1": JUDGED[kind]}, {"q1": provenance})
    (row,) = json.loads(json.dumps(questions.to_langsmith()))
    stored = Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), created_at=dt.datetime.now(dt.UTC), **row)
    for again in (rm.EvaluationSet.from_dataset([row]), rm.EvaluationSet.from_dataset([stored])):
        assert again.queries == questions.queries
        assert again.provenance == questions.provenance
        assert rm.Qrels(again.qrels).judgments(0) == rm.Qrels(questions.qrels).judgments(0)
    documents = [Document(SPOKEN, id="d1", metadata={"source": "shop.md", "start_index": 0})]
    if kind == "numbers":
        documents = []
    match: Any = rm.Matching(sources={"shop.md": SPOKEN}) if kind == "span" else "id"
    (evaluator,) = langsmith_evaluators("recall", match=match)
    (result,) = evaluator(inputs=row["inputs"], outputs={"documents": documents}, reference_outputs=row["outputs"])[
        "results"
    ]
    expected = {"groups": 1.0, "numbers": 0.0, "nothing": None}
    assert result["score"] == expected.get(kind, 1.0)


def test_a_chain_is_evaluated_by_the_documents_in_its_answer() -> None:
    chain: Any = RunnableLambda(lambda query: {"answer": query, "context": CONTEXT})
    result = evaluate_retriever(chain, [("why?", ["d7"])], "mrr", documents_key="context")
    assert result.means["mrr"] == 0.5
    with pytest.raises(ValueError, match="the answer of the retriever has no 'documents'; it has 'answer', 'context'"):
        evaluate_retriever(chain, [("why?", ["d7"])], "mrr", documents_key="documents")
    with pytest.raises(TypeError, match="documents_key='context' is for chains that return a mapping"):
        evaluate_retriever(Prepared(answers=ANSWERS), [("q0", ["d"])], "mrr", documents_key="context")


@pytest.mark.parametrize("stray", ["d1", b"d1", {"d1": 1.0}, {"id": "d1"}, 5])
def test_an_output_that_is_no_list_is_not_taken_for_documents_that_miss(stray: Any) -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    with pytest.raises(TypeError, match=r"outputs\.documents must hold a list of documents or IDs, got"):
        evaluator({"documents": stray}, {"relevant": ["d1"]})


def test_what_a_metric_cannot_count_in_an_output_is_a_reason_beside_the_question() -> None:
    (evaluator,) = langsmith_evaluators("recall@200tokens")
    run: Any = SimpleNamespace(id="r", error=None)
    with pytest.warns(rm.RetrievalWarning, match="the output cannot be judged"):
        (result,) = evaluator({"documents": ["d1"]}, {"relevant": ["d1"]}, run=run)["results"]
    assert result["score"] is None
    assert "tokens" in result["comment"]
