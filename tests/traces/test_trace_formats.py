"""Each form of traces says the parts of a span by its own names, and its errors and times in its own way."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_forms import SPANS
from agent_scenarios import SCENARIOS, check
from trace_spans import TAIL, ids, make_documents, otel, read, search, span


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("form", SPANS)
def test_every_scenario_counts_the_same_in_every_form(form: str, name: str) -> None:
    write, tools = SPANS[form]
    check(write(SCENARIOS[name]), name, form, tools)


class TestWhatIsNoSpan:
    @pytest.mark.parametrize("kind", ["CHAIN", "embedding"])
    def test_a_misspelt_kind_is_named_and_a_step_is_not(self, kind: str) -> None:
        kinds = {"1": "RETRIEVER", "2": "RETREIVER", "3": "RETREIVER", "4": kind}
        t = rm.read_traces(
            [
                otel(
                    id_,
                    "search",
                    **{"openinference.span.kind": kind_name, "output.value": json.dumps(make_documents("x"))},
                )
                for id_, kind_name in kinds.items()
            ]
        )
        assert t.notes == ("2 spans of the unknown kind 'RETREIVER' excluded, such as span '2' (search) of trace 't'",)

    @pytest.mark.parametrize(
        ("unit", "says"),
        [
            (
                {"id": 0, "parent": None, "name": "haystack.agent.run", "tags": {}},
                "a span of Haystack's tracer; add its",
            ),
            (
                {"event": "on_tool_start", "run_id": "1"},
                "an event of callbacks, not a span; record with the integration",
            ),
        ],
    )
    def test_what_is_taken_for_spans_is_named(self, unit: Any, says: str) -> None:
        with pytest.raises(ValueError, match=f"a span needs an ID and a trace, .*; this is {says}"):
            rm.read_traces([unit])


class TestErrorsOfOutputs:
    @pytest.mark.parametrize("output", [{"error": "down", "documents": []}, {"documents": None, "error": {"code": 1}}])
    def test_a_search_that_returns_its_error_has_failed(self, output: Any) -> None:
        (call,) = read(search("1", 1, "a", output)).calls
        assert call.error == str(output["error"])
        (call,) = read(search("1", 1, "a", {"error": None, "documents": []})).calls
        assert (call.error, ids(call)) == (None, [])


def test_a_trace_of_a_collector_and_a_compressed_file(tmp_path: Path) -> None:
    def value(plain: Any) -> Any:
        if isinstance(plain, list):
            return {"arrayValue": {"values": [value(element) for element in plain]}}
        return {"intValue": str(plain)} if isinstance(plain, int) else {"stringValue": plain}

    documents = json.dumps([{"id": "d7", "score": 0.5}])
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "a", "session.id": 7}
    otlp_span: dict[str, Any] = {
        "traceId": "aa",
        "spanId": "bb",
        "parentSpanId": "",
        "name": "retrieval docs",
        "startTimeUnixNano": "1795392022701650800",
        "endTimeUnixNano": "1795392022801650800",
        "attributes": [
            {"key": key, "value": value(attribute)}
            for key, attribute in {**attributes, "gen_ai.retrieval.documents": documents}.items()
        ],
        "status": {},
    }
    failed = {
        **otlp_span,
        "spanId": "cc",
        "attributes": otlp_span["attributes"][:3],
        "status": {"code": 2, "message": "down"},
    }
    path = tmp_path / "otlp.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [otlp_span, failed]}]}]}))
    t = rm.read_traces(path, query="session.id")
    assert list(t) == [7]
    assert [(ids(call), call.error) for call in t[7].calls] == [(["d7"], None), ([], "down")]
    assert t[7].calls[0].seconds == pytest.approx(0.1, rel=1e-4)
    del otlp_span["attributes"][3]
    with pytest.raises(ValueError, match="span 'bb'"):
        rm.read_traces([{"resourceSpans": [{"scopeSpans": [{"spans": [otlp_span]}]}]}])


def test_an_observation_of_langfuses_api() -> None:
    observation = {
        "traceId": "t",
        "id": "o",
        "parentObservationId": None,
        "type": "RETRIEVER",
        "name": "docs",
        "input": {"query": "a"},
        "output": {"documents": make_documents("x")},
        "metadata": {"question": "q9"},
    }
    failed = {**observation, "id": "p", "level": "ERROR", "statusMessage": "down", "output": None}
    t = rm.read_traces([{"id": "t", "observations": [observation, failed]}], query="metadata.question")
    assert [(ids(call), call.error) for call in t["q9"].calls] == [(["x"], None), ([], "down")]


def test_a_failed_tool_of_haystack_has_no_error_status() -> None:
    name = {"haystack.tool.name": "search"}
    outputs = ('{"documents": [{"id": "d1", "content": "a"}]}', '{"error": "Failed to invoke Tool `search`: offline"}')
    spans = [
        otel(str(index), "haystack.agent.step.tool", attributes=name | {"haystack.agent.step.tool.output": output})
        for index, output in enumerate(outputs)
    ]
    (output,) = rm.read_traces(spans, tools="search").values()
    assert [(ids(call), call.error) for call in output.calls] == [
        (["d1"], None),
        ([], "Failed to invoke Tool `search`: offline"),
    ]


def test_openllmetry_leaves_texts_without_ids() -> None:
    input_attributes = {
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.entity.input": '{"query": "a", "tags": []}',
    }
    output_attributes = {
        "traceloop.entity.output": '{"documents": [{"page_content": "one text", "metadata": {}}], "count": 1}'
    }
    (trajectory,) = rm.read_traces(
        [otel("1", "vector_db_retrieve Index", attributes=input_attributes | output_attributes)]
    ).values()
    assert (trajectory.calls[0].query, trajectory.calls[0].ranking) == ("a", [rm.Retrieved(None, "one text")])


def test_of_an_exception_its_type_and_message_are_kept_in_every_form_of_a_span() -> None:
    attributes = {"exception.type": "builtins.ConnectionError", "exception.message": "offline"}
    events: Any = [{"name": "exception", "attributes": attributes}]
    for recorded_events in (events, json.dumps(events)):  # a frame that was saved as Parquet has them as JSON
        status = {"status_code": "ERROR", "description": "ConnectionError('offline')Traceback ..."}
        retriever = {"openinference.span.kind": "RETRIEVER", "input.value": "a"}
        failed = otel("1", "Index", attributes=retriever, status=status, events=recorded_events)
        (trajectory,) = rm.read_traces([failed]).values()
        assert trajectory.calls[0].error == "ConnectionError: offline"


NO_DOCUMENTS: list[Any] = []


class TestErrorsAndTimes:
    @pytest.mark.parametrize("nothing", ["", False, 0, [], {}])
    def test_an_empty_error_is_none(self, nothing: Any) -> None:
        assert ids(read(search("1", 1, "a", make_documents("x"), error=nothing)).calls[0]) == ["x"]

    @pytest.mark.parametrize("failed", [{"error": {"type": "Timeout"}}, {"status": "error"}])
    def test_a_failure_without_a_message_is_one(self, failed: Any) -> None:
        assert read(search("1", 1, "a", NO_DOCUMENTS, **failed)).failed == 1

    @pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9])
    def test_a_time_is_in_seconds_whatever_its_unit(self, unit: float) -> None:
        now = 1.76e9
        (call,) = read(span("1", "retriever", start=now * unit, end=(now + 2) * unit, output=make_documents("x"))).calls
        assert call.seconds == 2

    @pytest.mark.parametrize("start", [None, 0, math.nan])
    def test_a_search_without_a_start_has_no_length(self, start: float | None) -> None:
        now = 1.76e9
        (call,) = read(span("1", "retriever", start=start, end=now, output=make_documents("x"))).calls
        assert call.seconds is None
        (call,) = read(span("1", "retriever", start=0, end=2, output=make_documents("x"))).calls
        assert call.seconds == 2

    @pytest.mark.parametrize("start", [10**400, "9" * 400, -(10**400)])
    def test_a_time_beyond_all_floats_is_named(self, start: Any) -> None:
        with pytest.raises(ValueError, match=r"the time of span .* cannot be read"):
            read(span("1", "retriever", start=start, end=1.0, output=make_documents("x")))

    def test_the_searches_in_an_old_export_of_a_collector_count(self) -> None:
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in TAIL.items()]
        old = {"scope": {}, "spans": [{"traceId": "t", "spanId": "1", "attributes": attributes}]}
        (trajectory,) = rm.read_traces([{"resourceSpans": [{"instrumentationLibrarySpans": [old]}]}]).values()
        assert ids(trajectory.calls[0]) == ["d1"]
