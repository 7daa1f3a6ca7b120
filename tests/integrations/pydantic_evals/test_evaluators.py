"""What the evaluators see and say: where they look, what fails, and what YAML keeps."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider
from pydantic import BaseModel
from pydantic_evals import Case, Dataset, set_eval_attribute
from pydantic_evals.reporting import EvaluationReport

import retrieval_metrics as rm
from pydantic_evals_retrieval_metrics import RetrievalMetrics, RetrievalReport, keep_spans, to_evaluation

SPANS = "spans:retrieve:document_ids"


def evaluated(task: Any, *, relevant: Any = ("d7",), lifecycle: Any = None, **settings: Any) -> EvaluationReport:
    truth = list(relevant) if isinstance(relevant, tuple) else relevant
    dataset = Dataset(
        name="one",
        cases=[Case(name="q", inputs="a question", expected_output=truth, metadata={"relevant_ids": truth})],
        evaluators=[RetrievalMetrics(**{"metrics": ["mrr"], "evaluation_name": "", **settings})],
    )
    return dataset.evaluate_sync(task, progress=False, lifecycle=lifecycle)


def score(task: Any, **settings: Any) -> float:
    (case,) = evaluated(task, **settings).cases
    assert not case.evaluator_failures
    return float(case.scores["mrr"].value)


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
    report = evaluated(answer, retrieved="attributes.documents")
    assert to_evaluation(report, "mrr", retrieved="attributes.documents").means["mrr"] == 0.5


def test_a_score_has_its_reason_and_what_is_undefined_a_label() -> None:
    (case,) = evaluated(lambda _: ["d3", "d7"]).cases
    assert case.scores["mrr"].reason == "1 relevant, 2 retrieved; ranks of the relevant: 2"
    (case,) = evaluated(lambda _: ["d3"], relevant=[]).cases
    assert not case.scores
    assert case.labels["mrr"].value == "undefined"
    assert str(case.labels["mrr"].reason).startswith("undefined and left out of the mean: 0 relevant")


@pytest.mark.parametrize(
    ("output", "says"), [("d7", "got 'd7'"), (None, "got None"), ([7], "int"), ([object()], "ids")]
)
def test_an_output_that_cannot_be_judged_is_a_failure_of_the_evaluator_and_not_a_0(output: Any, says: str) -> None:
    (case,) = evaluated(lambda _: output).cases
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
    assert reranked.title == "retrieval-retrieved-output.reranked, cases: 1"
    assert first.title == "first stage retrieval, cases: 1"
    assert [table.rows[0][:2] for table in (reranked, first)] == [  # type: ignore[union-attr]
        ["mrr-retrieved-output.reranked", 1.0],
        ["first stage mrr", 0.5],
    ]


def test_cases_with_equal_names_are_numbered() -> None:
    cases = [
        Case(name="Case 2", inputs="a", expected_output=["d1"]),
        Case(inputs="b", expected_output=["d7"]),
        Case(inputs="c", expected_output=["d7"]),
    ]
    report = Dataset(name="equal", cases=cases).evaluate_sync(lambda _: ["d7"], progress=False)
    evaluation = to_evaluation(report, "mrr")
    assert sorted(evaluation.per_query["mrr"].items()) == [("Case 2", 0.0), ("Case 2 (2)", 1.0), ("Case 3", 1.0)]


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


def test_a_case_that_only_the_core_refuses_is_left_out_of_the_report_too() -> None:
    outputs: dict[str, Any] = {"good": ["d7"], "number": [7], "nameless": [rm.Retrieved(None, "a text")]}
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in outputs]
    report = Dataset[str, Any, Any](name="left", cases=cases).evaluate_sync(outputs.__getitem__, progress=False)
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 cases are left out; case 'number' cannot be judged: .* int"):
        evaluation = to_evaluation(report, "mrr")
    assert evaluation.per_query["mrr"] == {"good": 1.0}


def test_what_cannot_be_judged_is_left_out_of_the_report_and_counted() -> None:
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in ("good", "wrong")]
    cases.append(Case(name="unjudged", inputs="good"))
    dataset = Dataset[str, Any, Any](name="left", cases=cases, report_evaluators=[RetrievalReport("mrr")])
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 cases are left out; case 'wrong' cannot be judged"):
        report = dataset.evaluate_sync(lambda name: ["d7"] if name == "good" else "d7", progress=False)
    table: Any = report.analyses[0]
    assert table.rows[0][:2] == ["mrr", 1.0]
    assert table.rows[0][-1] == 1
    assert "0 with nothing relevant and 2 that cannot be judged are left out" in table.description
    with pytest.raises(ValueError, match="no case can be judged: case 'good' cannot be judged"):
        to_evaluation(report, "mrr", retrieved="output.documents")


def test_a_case_without_judgments_is_a_failure_of_the_evaluator() -> None:
    (case,) = evaluated(lambda _: ["d7"], relevant=None).cases
    (failure,) = case.evaluator_failures
    assert "case 'q' does not say what is relevant: its expected_output is None" in failure.error_message


def failing(question: str) -> list[str]:
    if "bad" in question:
        raise ConnectionError("the store is down")
    return ["d3", "d7"]


def test_a_task_that_failed_counts_as_0_in_the_report() -> None:
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in ("good", "bad", "fine")]
    cases.append(Case(name="bad, nothing relevant", inputs="bad", expected_output=[]))
    dataset = Dataset(
        name="failing",
        cases=cases,
        evaluators=[RetrievalMetrics(["mrr"])],
        report_evaluators=[RetrievalReport(["mrr"])],
    )
    with pytest.warns(rm.RetrievalWarning):
        report = dataset.evaluate_sync(failing, progress=False)
    averages = report.averages()
    assert averages is not None
    assert averages.scores == {"mrr": 0.5}  # Pydantic Evals leaves failures out
    with pytest.warns(rm.RetrievalWarning, match="failed"):
        evaluation = to_evaluation(report, "mrr")
    assert evaluation.means["mrr"] == 1 / 3
    assert evaluation.counts["failed"] == 2
    assert str(evaluation.errors["bad"]) == "ConnectionError: the store is down"
    table: Any = report.analyses[0]
    low, high = evaluation.intervals()["mrr"]
    assert table.columns == ["metric", "mean", "low 95 %", "high 95 %", "n"]
    assert table.rows == [["mrr", 0.3333, round(low, 4), round(high, 4), 3]]
    assert table.title == "retrieval, cases: 4; failed, and 0 here but not in the averages: 2"
    assert table.description == (
        "4 cases: 2 failed and score 0, which the averages leave out; 1 with nothing relevant and 0 that cannot be "
        "judged are left out"
    )


def test_where_every_task_failed_there_is_no_number() -> None:
    dataset = Dataset(
        name="down",
        cases=[Case(name=name, inputs="a question that fails", expected_output=["d7"]) for name in ("a", "b")],
        evaluators=[RetrievalMetrics(["mrr"])],
        report_evaluators=[RetrievalReport(["mrr"])],
    )

    def refused(_: str) -> list[str]:
        raise PermissionError("401")

    report = dataset.evaluate_sync(refused, progress=False)
    assert (report.cases, report.analyses) == ([], [])
    (failure,) = report.report_evaluator_failures
    assert "nothing to evaluate: the retriever failed for every query, 2 of 2" in failure.error_message
    with pytest.raises(ValueError, match=r"failed for every query, 2 of 2; the first, 'a': .*401"):
        to_evaluation(report, "mrr")


def test_repeated_cases_do_not_narrow_the_interval() -> None:
    cases = [Case(name=f"q{n}", inputs=n, expected_output=["d7"] if n % 2 else ["d3"]) for n in range(24)]
    dataset = Dataset(name="repeated", cases=cases)
    once = to_evaluation(dataset.evaluate_sync(lambda _: ["d3", "d7"], progress=False), "mrr")
    often = to_evaluation(dataset.evaluate_sync(lambda _: ["d3", "d7"], progress=False, repeat=4), "mrr")
    assert often.n["mrr"] == 4 * once.n["mrr"]
    assert often.means["mrr"] == once.means["mrr"]
    (low, high), (low_once, high_once) = often.intervals()["mrr"], once.intervals()["mrr"]
    assert high - low == pytest.approx(high_once - low_once, rel=0.15)


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Iterator[trace.Tracer]:
    """Spans are recorded where a provider is set, and go nowhere without an exporter.

    MLflow, once it has evaluated in a process that knows Haystack, exports the spans of everybody else's provider; and
    a span that others left open would be the parent of these. So provider and context are the test's own.
    """
    provider = TracerProvider()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    outside = context.attach(context.Context())
    yield provider.get_tracer("test")
    context.detach(outside)


@pytest.mark.filterwarnings("ignore:none of the retrieved:retrieval_metrics.RetrievalWarning")
class TestSpans:
    @pytest.mark.parametrize(("calls", "value"), [("union", 1 / 3), ("first", 0.0), ("last", 1 / 2)])
    def test_of_several_one_counts_or_their_union(self, tracer: trace.Tracer, calls: str, value: float) -> None:
        def answer(_: str) -> str:
            for found in (["d1", "d2"], ["d2", "d7"]):
                with tracer.start_as_current_span("retrieve") as span:
                    span.set_attribute("document_ids", found)
            return "an answer"

        assert score(answer, retrieved=SPANS, calls=calls) == value
        kept = evaluated(answer, lifecycle=keep_spans(SPANS, calls=calls), retrieved="attributes.retrieved")  # type: ignore[arg-type]
        assert kept.cases[0].scores["mrr"].value == value
        assert to_evaluation(kept, "mrr", retrieved="attributes.retrieved").means["mrr"] == value

    def test_searches_inside_other_steps_stand_in_their_order(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            with tracer.start_as_current_span("a step"):
                for number in range(9):
                    with tracer.start_as_current_span("retrieve") as span:
                        span.set_attribute("document_ids", [f"miss {number}"] if number != 4 else ["d7"])
            return "an answer"

        assert score(answer, retrieved=SPANS, calls="union") == 1 / 5

    def test_what_was_read_and_cited_is_scored_like_what_was_found(self, tracer: trace.Tracer) -> None:
        documents = [{"id": id_, "content": f"The text of {id_}."} for id_ in ("d1", "d7", "d9")]
        read = [{"role": "user", "parts": [{"type": "text", "content": "The text of d7. The text of d1."}]}]

        def answer(_: str) -> dict[str, list[str]]:
            with tracer.start_as_current_span("retrieve") as span:
                span.set_attribute("found", json.dumps(documents))
            with tracer.start_as_current_span("chat") as span:
                span.set_attribute("gen_ai.operation.name", "chat")
                span.set_attribute("gen_ai.input.messages", json.dumps(read))
            return {"citations": ["d9", "d7"]}  # d9 was found, and never read

        options = {"retrieved": "spans:retrieve:found"}
        cited = {"calls": "cited", "citations": "output.citations"}
        assert score(answer, **options, calls="union") == 0.5
        assert score(answer, **options, calls="context") == 0.5
        assert score(answer, **options, **cited) == 1.0
        for views, value in (({"calls": "context"}, 0.5), (cited, 1.0)):
            lifecycle = keep_spans(options["retrieved"], **views)  # type: ignore[arg-type]
            kept = evaluated(answer, lifecycle=lifecycle, retrieved="attributes.retrieved")
            assert kept.cases[0].scores["mrr"].value == value

    def test_a_later_call_shows_although_the_first_fills_the_cut_off(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            for found in ([f"miss {n}" for n in range(10)], ["d7"]):
                with tracer.start_as_current_span("retrieve") as span:
                    span.set_attribute("document_ids", found)
            return "an answer"

        (case,) = evaluated(answer, retrieved=SPANS, metrics=["recall@10", "hit_rate@10", "precision@10"]).cases
        assert {name: one.value for name, one in case.scores.items()} == {
            "recall@10": 1.0,
            "hit_rate@10": 1.0,
            "precision@10": 0.1,
        }

    def test_the_message_of_a_tool_that_is_tried_again_is_not_its_result(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            for found, status in (("no index", trace.StatusCode.ERROR), ('["d7"]', trace.StatusCode.OK)):
                with tracer.start_as_current_span("execute_tool search") as span:
                    span.set_attribute("gen_ai.tool.call.result", found)
                    span.set_status(status)
            return "an answer"

        path = "spans:execute_tool search:gen_ai.tool.call.result"
        assert score(answer, retrieved=path) == 1.0

    def test_parallel_calls_stand_in_the_order_of_the_models_message(self, tracer: trace.Tracer) -> None:
        asked = [{"id": one, "name": "search", "arguments": {"query": one}} for one in ("one", "two")]

        def answering(*order: str) -> Any:
            def answer(_: str) -> str:
                with tracer.start_as_current_span("chat") as span:
                    span.set_attribute("gen_ai.operation.name", "chat")
                    span.set_attribute("gen_ai.output.messages", json.dumps([{"parts": asked}]))
                for query in order:
                    with tracer.start_as_current_span("execute_tool search") as span:
                        span.set_attribute("gen_ai.operation.name", "execute_tool")
                        span.set_attribute("gen_ai.tool.call.id", query)
                        span.set_attribute("gen_ai.tool.call.result", {"one": '["d1"]', "two": '["d7"]'}[query])
                return "an answer"

            return answer

        path = "spans:execute_tool search:gen_ai.tool.call.result"
        assert score(answering("one", "two"), retrieved=path) == score(answering("two", "one"), retrieved=path) == 0.5

    def test_documents_stand_in_them_as_json(self, tracer: trace.Tracer) -> None:
        documents = [{"id": "x", "content": "a", "metadata": {"source": "d3"}}]
        documents.append({"id": "y", "content": "b", "metadata": {"source": "d7"}})

        def answer(_: str) -> str:
            with tracer.start_as_current_span("retrieve") as span:
                span.set_attribute("gen_ai.tool.call.result", json.dumps(documents))
            return "an answer"

        path = "spans:retrieve:gen_ai.tool.call.result"
        assert score(answer, retrieved=path, match="source") == 0.5
        kept = evaluated(answer, lifecycle=keep_spans(path), retrieved="attributes.retrieved", match="source")
        assert kept.cases[0].scores["mrr"].value == 0.5

    def test_what_is_not_there_is_a_failure_that_names_what_is(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            with tracer.start_as_current_span("search") as span:
                span.set_attribute("ids", ["d7"])
            return "an answer"

        def failure(path: str) -> str:
            (case,) = evaluated(answer, retrieved=path).cases
            assert not case.scores
            return case.evaluator_failures[0].error_message

        assert "case 'q' cannot be judged: the task left no span 'retrieve'; it left 'search'" in failure(SPANS)
        # A host that traces too, and was imported before, adds attributes of its own.
        has = "span 'search' has no attribute 'document_ids'; it has ('.*', )?'ids'"
        assert re.search(has, failure("spans:search:document_ids"))
        with pytest.warns(rm.RetrievalWarning, match="case 'q' cannot be judged: .*no span 'retrieve'"):
            report = evaluated(answer, lifecycle=keep_spans(SPANS), retrieved="attributes.retrieved")
        assert not report.failures
        assert "no 'retrieved'" in report.cases[0].evaluator_failures[0].error_message

    def test_a_call_that_failed_found_nothing(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            with suppress(ConnectionError), tracer.start_as_current_span("retrieve"):
                failing("bad")
            return "I do not know"

        assert score(answer, retrieved=SPANS) == 0.0


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
        ({"semantics": "pydantic"}, "unknown semantics 'pydantic'"),
        ({"metrics": ["err@10"]}, "pass max_grade="),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RetrievalMetrics(**settings)


def test_a_report_says_that_it_holds_no_spans() -> None:
    with pytest.raises(ValueError, match=r"lifecycle=keep_spans\('spans:retrieve:document_ids'\)"):
        RetrievalReport(retrieved=SPANS)
    with pytest.raises(ValueError, match="keep_spans needs a path into spans"):
        keep_spans("output")
    with pytest.raises(ValueError, match="calls must be one of"):
        keep_spans(SPANS, calls="all")  # type: ignore[arg-type]
