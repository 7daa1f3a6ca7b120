"""What fails under LangSmith scores 0 and says why; no question drops out of a mean, and summaries know their n."""

import datetime as dt
import uuid
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


def example(query: str, relevant: Any, **more: Any) -> Example:
    return Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        created_at=dt.datetime.now(dt.UTC),
        inputs={"query": query},
        outputs={"relevant": relevant} | more,
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
    comments = {
        row["example"].inputs["query"]: result.comment
        for row in rows
        for result in row["evaluation_results"]["results"]
    }
    assert comments["q0"] is None
    assert comments["q1"] is not None
    assert comments["q1"].startswith("the target failed: ConnectionError('no index')")


@pytest.mark.filterwarnings("ignore")  # as above
def test_the_mean_of_the_summary_counts_failures_and_has_interval_and_n() -> None:
    rows = evaluated(
        langsmith_target(Prepared(answers=ANSWERS)), examples(), [], langsmith_summary_evaluators(["mrr", "recall@1"])
    )
    list(rows)
    mrr, recall = rows._summary_results["results"]  # noqa: SLF001  (where LangSmith keeps them without uploading)
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 2 of 4"):
        ours = evaluate_retriever(Prepared(answers=ANSWERS), examples(), ["mrr", "recall@1"])
    low, high = ours.intervals(0.95)["mrr"]
    assert (mrr.key, mrr.score, recall.key, recall.score) == ("mrr", 0.5, "recall@1", 0.5)
    assert mrr.comment == f"95 % interval [{low:.3f}, {high:.3f}], n = 4; 2 failed and count as 0"


@pytest.mark.filterwarnings("ignore")  # as above
def test_repetitions_of_an_example_are_one_cluster() -> None:
    data = [example(f"q{number}", ["d"]) for number in range(12)]
    answers = {f"q{number}": ["d"] if number % 2 else ["x"] for number in range(12)}
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
        (summaries[times],) = rows._summary_results["results"]  # noqa: SLF001  (where LangSmith keeps them without uploading)
    lows = {times: float(summary.comment.split("[")[1].split(",")[0]) for times, summary in summaries.items()}
    assert summaries[4].comment.endswith("n = 48 runs of 12 examples")
    assert lows[4] == pytest.approx(lows[1], abs=0.03)  # 48 independent ones would have 0.35


@pytest.mark.filterwarnings("ignore:.*beta")
def test_an_output_that_cannot_be_read_scores_0_with_the_error_and_is_warned_of() -> None:
    (evaluator,) = langsmith_evaluators("mrr")
    run = type("Run", (), {"error": None})()
    with pytest.warns(rm.RetrievalWarning, match="cannot be judged.*has no 'documents'; it has 'docs'"):
        (result,) = evaluator({"docs": []}, {"relevant": ["d"]}, run)["results"]
    assert result == {
        "key": "mrr",
        "score": 0.0,
        "comment": "the output cannot be judged: ValueError: the output of the target has no 'documents'; "
        "it has 'docs'",
    }


def test_a_failed_question_without_truth_stays_undefined() -> None:
    (evaluator,) = langsmith_evaluators(["mrr", "judged@3"])
    run = type("Run", (), {"error": "TimeoutError()"})()
    mrr, _ = evaluator({}, {"relevant": []}, run)["results"]
    _, judged = evaluator({}, {"relevant": ["d"]}, run)["results"]
    assert mrr == {"key": "mrr", "score": None, "comment": "undefined: nothing is relevant"}
    assert judged == {"key": "judged@3", "score": None, "comment": "undefined: nothing was retrieved"}


CONTEXT = [Document("a", id="d3"), Document("b", id="d7")]


@pytest.mark.filterwarnings("ignore")  # as above
def test_a_chain_that_returns_answer_and_context_is_judged_by_its_context() -> None:
    chain: Any = RunnableLambda(lambda given: {"answer": f"because {given['query']}", "context": CONTEXT})
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
def test_examples_and_their_json_are_a_dataset(as_rows: bool) -> None:  # noqa: FBT001  (a parameter of the test)
    data: Any = [example("q0", ["d"], answer="x"), example("q2", {"d": 2})]
    if as_rows:
        data = [{"inputs": one.inputs, "outputs": one.outputs} for one in data]
    result = evaluate_retriever(Prepared(answers=ANSWERS), data, "mrr")
    assert result.per_query["mrr"] == {"q0": 1.0, "q2": 1.0}


def test_an_example_without_judgments_is_named() -> None:
    with pytest.raises(ValueError, match=r"row 1 has no 'relevant'.*it has 'answer', 'query'"):
        evaluate_retriever(Prepared(answers=ANSWERS), [{"inputs": {"query": "q0"}, "outputs": {"answer": "x"}}], "mrr")


def test_a_chain_is_evaluated_by_the_documents_in_its_answer() -> None:
    chain: Any = RunnableLambda(lambda query: {"answer": query, "context": CONTEXT})
    result = evaluate_retriever(chain, [("why?", ["d7"])], "mrr", documents_key="context")
    assert result.means["mrr"] == 0.5
    with pytest.raises(ValueError, match="the answer of the retriever has no 'documents'; it has 'answer', 'context'"):
        evaluate_retriever(chain, [("why?", ["d7"])], "mrr", documents_key="documents")
    with pytest.raises(TypeError, match="documents_key='context' is for chains that return a mapping"):
        evaluate_retriever(Prepared(answers=ANSWERS), [("q0", ["d"])], "mrr", documents_key="context")
