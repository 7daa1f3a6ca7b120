"""What was seen in spans: of several calls, of what failed, and of what a model read and cited."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider

import retrieval_metrics as rm
from pydantic_evals_hosts import answer_or_fail, evaluate_task, score
from pydantic_evals_retrieval_metrics import RetrievalReport, keep_spans, to_evaluation

SPANS = "spans:retrieve:document_ids"


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


@pytest.mark.filterwarnings("ignore:no retrieved document is judged:retrieval_metrics.RetrievalWarning")
class TestSpans:
    @pytest.mark.parametrize(("calls", "value"), [("union", 1 / 3), ("first", 0.0), ("last", 1 / 2)])
    def test_of_several_one_counts_or_their_union(self, tracer: trace.Tracer, calls: str, value: float) -> None:
        def answer(_: str) -> str:
            for ids in (["d1", "d2"], ["d2", "d7"]):
                with tracer.start_as_current_span("retrieve") as span:
                    span.set_attribute("document_ids", ids)
            return "an answer"

        assert score(answer, retrieved=SPANS, calls=calls) == value
        report = evaluate_task(answer, lifecycle=keep_spans(SPANS, calls=calls), retrieved="attributes.retrieved")  # type: ignore[arg-type]
        assert report.cases[0].scores["mrr"].value == value
        assert to_evaluation(report, "mrr", retrieved="attributes.retrieved").means["mrr"] == value

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
        messages = [{"role": "user", "parts": [{"type": "text", "content": "The text of d7. The text of d1."}]}]

        def answer(_: str) -> dict[str, list[str]]:
            with tracer.start_as_current_span("retrieve") as span:
                span.set_attribute("found", json.dumps(documents))
            with tracer.start_as_current_span("chat") as span:
                span.set_attribute("gen_ai.operation.name", "chat")
                span.set_attribute("gen_ai.input.messages", json.dumps(messages))
            return {"citations": ["d9", "d7"]}  # d9 was found, and never read

        options = {"retrieved": "spans:retrieve:found"}
        cited = {"calls": "cited", "citations": "output.citations"}
        assert score(answer, **options, calls="union") == 0.5
        assert score(answer, **options, calls="context") == 0.5
        assert score(answer, **options, **cited) == 1.0
        for views, value in (({"calls": "context"}, 0.5), (cited, 1.0)):
            lifecycle = keep_spans(options["retrieved"], **views)  # type: ignore[arg-type]
            report = evaluate_task(answer, lifecycle=lifecycle, retrieved="attributes.retrieved")
            assert report.cases[0].scores["mrr"].value == value

    def test_a_later_call_shows_although_the_first_fills_the_cut_off(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            misses = [f"miss {number}" for number in range(10)]
            for ids in (misses, ["d7"]):
                with tracer.start_as_current_span("retrieve") as span:
                    span.set_attribute("document_ids", ids)
            return "an answer"

        (case,) = evaluate_task(answer, retrieved=SPANS, metrics=["recall@10", "hit_rate@10", "precision@10"]).cases
        assert {name: score.value for name, score in case.scores.items()} == {
            "recall@10": 1.0,
            "hit_rate@10": 1.0,
            "precision@10": 0.1,
        }

    def test_the_message_of_a_tool_that_is_tried_again_is_not_its_result(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            for result, status in (("no index", trace.StatusCode.ERROR), ('["d7"]', trace.StatusCode.OK)):
                with tracer.start_as_current_span("execute_tool search") as span:
                    span.set_attribute("gen_ai.tool.call.result", result)
                    span.set_status(status)
            return "an answer"

        path = "spans:execute_tool search:gen_ai.tool.call.result"
        assert score(answer, retrieved=path) == 1.0

    def test_parallel_calls_stand_in_the_order_of_the_models_message(self, tracer: trace.Tracer) -> None:
        tool_calls = [{"id": query, "name": "search", "arguments": {"query": query}} for query in ("one", "two")]

        def answering(*order: str) -> Any:
            def answer(_: str) -> str:
                with tracer.start_as_current_span("chat") as span:
                    span.set_attribute("gen_ai.operation.name", "chat")
                    span.set_attribute("gen_ai.output.messages", json.dumps([{"parts": tool_calls}]))
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
        report = evaluate_task(answer, lifecycle=keep_spans(path), retrieved="attributes.retrieved", match="source")
        assert report.cases[0].scores["mrr"].value == 0.5

    def test_the_report_keeps_where_a_document_comes_from(self, tracer: trace.Tracer) -> None:
        text = "Refunds take five working days."
        documents = [
            {"id": "c1", "text": text, "url": "help.md", "start_char_idx": 0},
            {"id": "c2", "text": text, "url": "shop.md", "start_char_idx": len(text)},
        ]

        def answer(_: str) -> str:
            with tracer.start_as_current_span("retrieve") as span:
                span.set_attribute("found", json.dumps(documents))
            return "an answer"

        path = "spans:retrieve:found"
        lifecycle: Any = keep_spans(path)
        report = evaluate_task(answer, relevant=["shop.md"], lifecycle=lifecycle, retrieved=path, match="source")
        assert report.cases[0].scores["mrr"].value == 0.5
        assert to_evaluation(report, "mrr", retrieved="attributes.retrieved", match="source").means["mrr"] == 0.5
        second_half = {"type": "span", "source": "shop.md", "start": len(text), "end": 2 * len(text)}
        kept = "attributes.retrieved"
        with pytest.warns(rm.RetrievalWarning, match="could not be located in its source"):  # for want of its text
            report = evaluate_task(answer, relevant=[second_half], lifecycle=lifecycle, retrieved=kept)
        matching = rm.Matching(sources={"shop.md": 2 * text, "help.md": text})
        assert to_evaluation(report, "mrr", retrieved=kept, match=matching).means["mrr"] == 0.5

    def test_what_is_not_there_is_a_failure_that_names_what_is(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            with tracer.start_as_current_span("search") as span:
                span.set_attribute("ids", ["d7"])
            return "an answer"

        def failure_message(path: str) -> str:
            (case,) = evaluate_task(answer, retrieved=path).cases
            assert not case.scores
            return case.evaluator_failures[0].error_message

        assert "case 'q' cannot be judged: the task left no span 'retrieve'; it left 'search'" in failure_message(SPANS)
        # A host that traces too, and was imported before, adds attributes of its own.
        expected = "span 'search' has no attribute 'document_ids'; it has ('.*', )?'ids'"
        assert re.search(expected, failure_message("spans:search:document_ids"))
        with pytest.warns(rm.RetrievalWarning, match="case 'q' cannot be judged: .*no span 'retrieve'"):
            report = evaluate_task(answer, lifecycle=keep_spans(SPANS), retrieved="attributes.retrieved")
        assert not report.failures
        assert "no 'retrieved'" in report.cases[0].evaluator_failures[0].error_message

    def test_a_call_that_failed_found_nothing(self, tracer: trace.Tracer) -> None:
        def answer(_: str) -> str:
            with suppress(ConnectionError), tracer.start_as_current_span("retrieve"):
                answer_or_fail("bad")
            return "I do not know"

        assert score(answer, retrieved=SPANS) == 0.0
        (case,) = evaluate_task(answer, retrieved=SPANS).cases
        assert "every search failed" in str(next(iter(case.scores.values())).reason)


def test_a_report_says_that_it_holds_no_spans() -> None:
    with pytest.raises(ValueError, match=r"lifecycle=keep_spans\('spans:retrieve:document_ids'\)"):
        RetrievalReport(retrieved=SPANS)
    with pytest.raises(ValueError, match="keep_spans needs a path into spans"):
        keep_spans("output")
    with pytest.raises(ValueError, match="calls must be one of"):
        keep_spans(SPANS, calls="all")  # type: ignore[arg-type]
