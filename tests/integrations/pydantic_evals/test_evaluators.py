"""What the evaluators see and say: where they look, what fails, and what YAML keeps."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from pydantic import BaseModel
from pydantic_evals import Case, Dataset, set_eval_attribute

import retrieval_metrics as rm
from conformance import call_with_warnings
from pydantic_evals_hosts import evaluate_task, score
from pydantic_evals_retrieval_metrics import RetrievalMetrics, RetrievalReport, to_evaluation


class Answer(BaseModel):
    text: str
    documents: list[Any]


@pytest.mark.parametrize(
    ("output", "settings"),
    [
        (["d3", "d7"], {}),
        ({"documents": [{"id": "d3"}, {"id": "d7", "text": "b"}]}, {"retrieved": "output.documents"}),
        (Answer(text="yes", documents=["d3", "d7"]), {"retrieved": "output.documents"}),
        ([LangChainDocument("a", id="d3"), LangChainDocument("b", id="d7")], {}),
        ([rm.Retrieved("x", source="d3"), rm.Retrieved("y", source="d7")], {"match": "source"}),
    ],
    ids=["ids", "json", "model", "langchain", "source"],
)
def test_documents_come_in_every_form(output: Any, settings: dict[str, Any]) -> None:
    assert score(lambda _: output, **settings) == 0.5


def test_attributes_of_the_task_hold_them_too() -> None:
    def answer(_: str) -> str:
        set_eval_attribute("documents", ["d3", "d7"])
        return "an answer"

    assert score(answer, retrieved="attributes.documents") == 0.5
    report = evaluate_task(answer, retrieved="attributes.documents")
    assert to_evaluation(report, "mrr", retrieved="attributes.documents").means["mrr"] == 0.5


def test_a_score_has_its_reason_and_what_is_undefined_a_label() -> None:
    (case,) = evaluate_task(lambda _: ["d3", "d7"]).cases
    assert case.scores["mrr"].reason == "1 relevant, 2 retrieved; relevant at rank 2"
    (case,) = evaluate_task(lambda _: ["d3"], relevant=[]).cases
    assert not case.scores
    assert case.labels["mrr"].value == "undefined"
    assert str(case.labels["mrr"].reason).startswith("undefined, excluded from the mean: no relevant document")


@pytest.mark.parametrize(
    ("output", "says"), [("d7", "got 'd7'"), (None, "got None"), ([7], "int"), ([object()], "IDs")]
)
def test_an_output_that_cannot_be_judged_is_a_failure_of_the_evaluator_and_not_a_0(output: Any, says: str) -> None:
    (case,) = evaluate_task(lambda _: output).cases
    (failure,) = case.evaluator_failures
    assert not case.scores
    assert "case 'q' cannot be judged: " in failure.error_message
    assert says in failure.error_message
    assert "qrels" not in failure.error_message
    assert "query" not in failure.error_message


def test_two_evaluators_of_a_dataset_stay_apart() -> None:
    cases = [Case(name="q", inputs="a question", expected_output=["d7"])]
    dataset = Dataset[str, Any, Any](
        name="two",
        cases=cases,
        evaluators=[
            RetrievalMetrics("mrr", retrieved="output.found"),
            RetrievalMetrics("mrr", retrieved="output.reranked"),
            RetrievalMetrics(rm.DEFAULT_METRICS[4:5], retrieved="output.found", evaluation_name="first stage"),
        ],
        report_evaluators=[
            RetrievalReport("mrr", retrieved="output.reranked"),
            RetrievalReport("mrr", retrieved="output.found", evaluation_name="first stage"),
        ],
    )
    report = dataset.evaluate_sync(lambda _: {"found": ["x", "d7"], "reranked": ["d7", "x"]}, progress=False)
    assert {name: score.value for name, score in report.cases[0].scores.items()} == {
        "mrr-retrieved-output.found": 0.5,
        "mrr-retrieved-output.reranked": 1.0,
        "first stage mrr@10": 0.5,
    }
    reranked, first = report.analyses
    assert reranked.title == "retrieval-retrieved-output.reranked, 1 case"
    assert first.title == "first stage retrieval, 1 case"
    assert [table.rows[0][:2] for table in (reranked, first)] == [  # type: ignore[union-attr]
        ["mrr-retrieved-output.reranked", 1.0],
        ["first stage mrr", 0.5],
    ]


def test_the_report_divides_by_the_largest_grade_that_is_given() -> None:
    metrics = ["err@10", "rbp"]
    dataset = Dataset[str, Any, Any](
        name="graded",
        cases=[Case(name=name, inputs=name, expected_output={"d7": 2}) for name in "ab"],
        evaluators=[RetrievalMetrics(metrics, max_grade=4, evaluation_name="")],
        report_evaluators=[RetrievalReport(metrics, max_grade=4, evaluation_name="")],
    )
    report = dataset.evaluate_sync(lambda _: ["d7"], progress=False)
    averages: Any = report.averages()
    table: Any = report.analyses[0]
    assert averages.scores == pytest.approx({"err@10": 3 / 16, "rbp": 0.1})
    assert {row[0]: row[1] for row in table.rows} == {"err@10": 0.1875, "rbp": 0.1}


def test_a_case_without_judgments_is_a_failure_of_the_evaluator() -> None:
    (case,) = evaluate_task(lambda _: ["d7"], relevant=None).cases
    (failure,) = case.evaluator_failures
    assert "case 'q' does not say what is relevant: its expected_output is None" in failure.error_message


def test_yaml_keeps_the_evaluators(tmp_path: Path) -> None:
    paths: dict[str, Any] = {"relevant": "metadata.relevant_ids", "evaluation_name": ""}
    dataset = Dataset[str, Any, Any](
        name="kept",
        cases=[Case(name="q", inputs="a question", metadata={"relevant_ids": {"d7": 2}})],
        evaluators=[RetrievalMetrics(["ndcg@10", "err"], max_grade=3, **paths)],
        report_evaluators=[RetrievalReport(**paths)],
    )
    path = tmp_path / "dataset.yaml"
    dataset.to_file(path, custom_evaluator_types=[RetrievalMetrics], custom_report_evaluator_types=[RetrievalReport])
    again = Dataset[str, Any, Any].from_file(
        path, custom_evaluator_types=[RetrievalMetrics], custom_report_evaluator_types=[RetrievalReport]
    )
    assert again.evaluators == dataset.evaluators
    assert again.report_evaluators == dataset.report_evaluators
    report = again.evaluate_sync(lambda _: ["d3", "d7"], progress=False)
    assert report.cases[0].scores["err"].value == (2**2 - 1) / 2**3 / 2
    assert [row[0] for row in report.analyses[0].rows] == list(rm.DEFAULT_METRICS)  # type: ignore[union-attr]


def test_yaml_written_by_hand_is_read() -> None:
    text = """
name: by hand
cases:
  - name: q
    inputs: what closes a file?
    expected_output: [d7]
evaluators:
  - RetrievalMetrics: [mrr, recall@1]
report_evaluators:
  - RetrievalReport
"""
    dataset = Dataset[str, Any, Any].from_text(
        text, custom_evaluator_types=[RetrievalMetrics], custom_report_evaluator_types=[RetrievalReport]
    )
    assert dataset.evaluators == [RetrievalMetrics(["mrr", "recall@1"])]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"metrics": ["ndgc@10"]}, "did you mean ndcg"),
        ({"relevant": "output"}, "relevant must begin with inputs, metadata, expected_output"),
        ({"retrieved": "documents"}, "retrieved must begin with output, attributes"),
        ({"retrieved": "spans:retrieve"}, "'spans:<name of the spans>:<attribute>'"),
        ({"calls": "all"}, "calls must be one of"),
        ({"calls": "context"}, "calls='context' needs the spans of a model, so retrieved= must name spans"),
        ({"calls": "cited", "retrieved": "spans:a:b"}, "citations=, the path of what the answer cites, need each"),
        ({"calls": "cited", "retrieved": "spans:a:b", "citations": "x"}, "citations must begin with"),
        ({"match": "uri"}, "uri"),
        ({"rules": "pydantic"}, "unknown rules 'pydantic'"),
        ({"metrics": ["err@10"]}, "pass max_grade="),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RetrievalMetrics(**settings)


def test_results_have_the_version_of_the_package() -> None:
    (case,) = evaluate_task(lambda _: ["d7"]).cases
    assert case.scores["mrr"].evaluator_version == rm.__version__


def test_ids_that_nearly_match_are_said_once_in_each_run() -> None:
    cases = [Case(name=f"q{number}", inputs=number, expected_output=[f"d{number}"]) for number in range(5)]
    dataset: Any = Dataset(name="near", cases=cases, evaluators=[RetrievalMetrics(["mrr", "recall@5"])])
    for _ in range(2):
        _, warning_text = call_with_warnings(
            lambda: dataset.evaluate_sync(lambda number: [f"D{number}"], progress=False)
        )
        assert warning_text.startswith("in the first 3 cases, no retrieved document is judged")
        assert warning_text.count("differ in case") == 1
    _, warning_text = call_with_warnings(lambda: dataset.evaluate_sync(lambda number: [f"d{number}"], progress=False))
    assert warning_text == ""
