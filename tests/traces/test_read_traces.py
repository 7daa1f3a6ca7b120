"""Reading traces: the rules on small spans, and the recordings of sixteen instrumentations."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from trace_spans import (
    CHAT,
    OTEL_ROOT,
    RETRIEVAL,
    ROOT,
    TAIL,
    cited,
    ids,
    make_documents,
    model,
    otel,
    read,
    search,
    span,
)

DATA = os.environ.get("RETRIEVAL_METRICS_DATA")
RECORDED = Path(DATA or "") / "agent_traces"
recorded = pytest.mark.skipif(not DATA or not RECORDED.is_dir(), reason="RETRIEVAL_METRICS_DATA has no agent_traces")
QRELS: Any = {"d2": 1, "d3": 1, "d4": 2}


class TestWhatIsRefusedOrCounted:
    def test_circles(self) -> None:
        spans = [search("1", 1, "a", make_documents("x"), parent="2"), span("2", "other", "1")]
        with pytest.raises(ValueError, match="is nested inside itself"):
            read(*spans)

    def test_orphans_and_repeats_are_counted(self) -> None:
        recorded_span = search("1", 1, "a", make_documents("x"), parent="lost")
        t = rm.read_traces([ROOT, recorded_span, recorded_span])
        assert repr(t) == "<Trajectories: 1 query, 1 call, 0 failed; 1 span with a missing parent; 1 duplicate span>"

    def test_spans_of_no_known_kind_are_counted_and_named(self) -> None:
        without = {key: value for key, value in search("2", 2, "b", make_documents("y")).items() if key != "kind"}
        t = rm.read_traces([ROOT, search("1", 1, "a", make_documents("x")), without])
        assert t.notes == ("1 span without a kind excluded, span '2' (retriever) of trace 't'",)
        with pytest.raises(ValueError, match="the retrieved documents are unknown; 1 span without a kind excluded"):
            rm.read_traces([ROOT, without])

    @pytest.mark.parametrize(
        "attributes",
        [
            {"db.system": "qdrant", "db.operation.name": "search"},
            {"http.request.method": "POST"},
            {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.result": '[{"id": "x"}]'},
            {"langsmith.span.kind": "retriever"},
            {"mcp.method.name": "tools/call", "mcp.tool.name": "search"},
            {"openinference.span.kind": "UNKNOWN"},
            {"mlflow.spanType": '"UNKNOWN"', "mlflow.spanOutputs": '[{"id": "x"}]'},
            {"langfuse.observation.type": "span"},
            {},
        ],
    )
    def test_a_span_that_says_only_that_something_ran_is_no_sign_that_nothing_was_searched(
        self, attributes: dict[str, Any]
    ) -> None:
        unsaid = otel("2", "ran", "1", kind="SPAN_KIND_CLIENT", attributes=attributes)
        note = "1 span without a kind excluded, span '2' (ran) of trace 't'"
        with pytest.raises(ValueError, match="the retrieved documents are unknown; " + re.escape(note)):
            rm.read_traces([OTEL_ROOT, unsaid, CHAT])
        assert rm.read_traces([OTEL_ROOT, unsaid, RETRIEVAL, CHAT]).notes == (note,)

    @pytest.mark.parametrize("inside", ["3", "4"])
    def test_what_a_search_or_a_model_ran_is_a_part_of_it(self, inside: str) -> None:
        ran = otel("2", "POST", inside, kind="SPAN_KIND_CLIENT")
        wrapper = otel("5", "step", "1", kind="SPAN_KIND_INTERNAL")
        known_step = otel("6", "plan", "5", attributes={"openinference.span.kind": "CHAIN"})
        assert rm.read_traces([OTEL_ROOT, RETRIEVAL, CHAT, ran, wrapper, known_step]).notes == ()

    def test_a_model_that_asked_for_nothing_has_searched_nothing(self) -> None:
        t = rm.read_traces([OTEL_ROOT, CHAT])
        assert (t["t"].calls, t.notes) == ([], ())

    def test_a_model_whose_answer_was_not_recorded_may_have_asked(self) -> None:
        chat = otel("4", "chat", "1", attributes={"gen_ai.operation.name": "chat"})
        with pytest.raises(ValueError, match="the replies of a model were not recorded"):
            rm.read_traces([OTEL_ROOT, chat])

    def test_a_step_without_a_search_inside_may_have_searched(self) -> None:
        step = otel("2", "retrieve", "1", attributes={"openinference.span.kind": "CHAIN"})
        with pytest.raises(ValueError, match=re.escape("span '2' (retrieve) of trace 't' may have")):
            rm.read_traces([OTEL_ROOT, step, CHAT])
        assert rm.read_traces([OTEL_ROOT, step, {**CHAT, "parent_id": "2"}])["t"].calls == []
        assert rm.read_traces([OTEL_ROOT, step, RETRIEVAL, CHAT]).notes == ()

    def test_what_a_reranker_handed_on_is_read_where_openinference_lists_it_or_refused(self) -> None:
        documents = {f"reranker.output_documents.{index}.document.id": id_ for index, id_ in enumerate("yx")}
        retriever = otel("3", "kb", "1", attributes=RETRIEVAL["attributes"])
        reranker = otel("5", "rerank", "1", attributes={"openinference.span.kind": "RERANKER", **documents})
        (call,) = rm.read_traces([OTEL_ROOT, retriever, reranker])["t"].calls
        assert (ids(call), [ids(ranking) for ranking in call.inner_rankings]) == (["y", "x"], [["x"]])
        silent = {**reranker, "attributes": {"openinference.span.kind": "RERANKER", "reranker.query": "a"}}
        with pytest.raises(ValueError, match=re.escape("span '5' (rerank) of trace 't' names no documents")):
            rm.read_traces([OTEL_ROOT, retriever, silent])
        (call,) = rm.read_traces([OTEL_ROOT, retriever, {**silent, "status_code": "ERROR"}])["t"].calls
        assert ids(call) == ["x"]

    def test_a_span_that_says_two_things_is_refused_in_any_order(self) -> None:
        first, other = (search("1", 1, "a", make_documents(name)) for name in ("x", "y"))
        begun = {**first, "output": None}
        for spans in ([first, other], [other, first], [begun, first, other]):
            with pytest.raises(ValueError, match=r"span '1' .* was recorded twice, with different outputs"):
                read(*spans)
        assert ids(read(begun, first).calls[0]) == ids(read(first, begun).calls[0]) == ["x"]

    def test_a_span_of_a_model_that_had_begun_is_replaced_by_the_one_that_ended(self) -> None:
        spans = [
            model("m", 0, "b", "a"),
            search("1", 1, "a", make_documents("x")),
            search("2", 1, "b", make_documents("y")),
        ]
        begun = {**spans[0], "output": None}
        for order in ([begun, *spans], [*spans, begun]):
            assert [call.query for call in read(*order).calls] == ["b", "a"]

    def test_what_is_no_function(self) -> None:
        wrong: Any
        for name, wrong in (("citations", r"\[(\w+)\]"), ("documents", ["x"]), ("query", 3)):
            with pytest.raises(TypeError, match=f"{name}= must be"):
                rm.read_traces([ROOT], **{name: wrong})

    @pytest.mark.parametrize("wrong", ["d2", None, 7])
    def test_citations_that_are_no_list(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match=f"must return a list of IDs, empty if nothing is cited, got {wrong!r}"):
            read(search("1", 1, "a", make_documents("x")), model("m", 2, answer="It is d2."), citations=lambda _: wrong)

    def test_a_tool_of_another_name(self) -> None:
        recorded_span = search("1", 1, "a", make_documents("x"))
        with pytest.raises(ValueError, match="no tool named 'seek' ran; none did, so leave tools= out"):
            read(recorded_span, tools="seek")
        with pytest.raises(ValueError, match="no tool named 'seek' ran; the tools are 'tool'"):
            read(recorded_span, span("2", "tool"), tools="seek")

    def test_traces_without_a_search(self) -> None:
        with pytest.raises(ValueError, match="no retriever span in 1 trace"):
            read(span("s", "other"))
        assert read(model("m", 1)).calls == []  # an agent that answered at once
        with pytest.raises(ValueError, match=r"tools that ran: 'tool'; .* name it: tools=\['tool'\]"):
            read(span("1", "tool", output=make_documents("x")))

    def test_what_holds_no_spans(self) -> None:
        with pytest.raises(TypeError, match="takes a file, a DataFrame, or a list of spans, got int"):
            rm.read_traces(3)
        with pytest.raises(ValueError, match="there are no spans"):
            rm.read_traces([])
        with pytest.raises(ValueError, match="a span needs an ID and a trace"):
            rm.read_traces([{"a": 1}])
        with pytest.raises(ValueError, match="must hold spans as objects, got 3"):
            rm.read_traces([3])
        with pytest.raises(ValueError, match="context must be 'answer' or 'any'"):
            rm.read_traces([ROOT], context="all")  # type: ignore[arg-type]

    def test_traces_without_the_id_of_a_question_are_left_out_and_counted(self) -> None:
        other = [
            {**recorded_span, "trace": "u"}
            for recorded_span in (span("root", "other", None), search("1", 1, "b", make_documents("y")))
        ]
        t = rm.read_traces([ROOT, search("1", 1, "a", make_documents("x")), *other], query="input")
        assert list(t) == ["q1"]
        assert "1 trace without the ID of a question, excluded" in repr(t)
        with pytest.raises(ValueError, match=r"none of 2 traces has 'metadata.qid', .* has neither attributes"):
            rm.read_traces([ROOT, search("1", 1, "a", make_documents("x")), *other], query="metadata.qid")

    def test_several_traces_of_one_question_are_rows_of_one_cluster(self) -> None:
        again = [
            {**recorded_span, "trace": "u", "start": 20}
            for recorded_span in (ROOT, search("1", 1, "b", make_documents("y")))
        ]
        t = rm.read_traces([*again, ROOT, search("1", 1, "a", make_documents("x"))], query=lambda root: root["input"])
        assert t.questions == {"q1#1": "q1", "q1#2": "q1"}
        assert [ids(t.union()[row]) for row in t] == [["x"], ["y"]]


SAME_TRACES = {
    "openinference": "langchain_openinference_retriever_tool.jsonl",
    "artifact": "langchain_openinference_artifact.jsonl",
    "phoenix frame": "phoenix_spans.jsonl",
    "phoenix rest": "phoenix_rest_spans.json",
    "phoenix parquet": "phoenix_spans.parquet",
    "langsmith": "langsmith_runs.jsonl",
    "langfuse": "langfuse_otel.jsonl",
    "mlflow": "mlflow_trace_langchain.json",
    "mlflow frame": "mlflow_search_traces.json",
}
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
CUT = {
    "openinference.span.kind": "LLM",
    "input.value": '{"messages": ["Con',
    "llm.input_messages.0.message.content": "C",
}


class TestWhatIsEasilyLost:
    @pytest.mark.parametrize(
        ("spans", "says"),
        [
            ([span("root2", "other", None, input="q2")], "trace 't' name the questions 'q1' and 'q2'"),
            ([search("1", 1, "a", make_documents("x")), search("1", 1, "a", error="lost")], "recorded twice"),
            (
                [search("1", 1, "a", make_documents("x"), error="lost"), search("1", 1, "a", make_documents("x"))],
                "recorded twice",
            ),
            ([search("1", float("inf"), "a", make_documents("x"))], "the time of span '1' .*inf is not a time"),
            ([search("1", 1, "a", [{"id": "x", "metadata": "{'a"}])], "the output of span '1' .*cannot be read"),
            (
                [search("1", 1, "a", make_documents("x")), model("m", 2, read=ENDLESS)],
                "in trace 't' is nested too deeply",
            ),
            (
                [search("1", 1, "a", make_documents("x")), {**span("m", "model"), "attributes": CUT}],
                "input of span 'm' .*cut",
            ),
            ([{**span("1", "retriever"), "droppedAttributesCount": 9, "attributes": TAIL}], "9 attributes of span '1'"),
            ([{"resourceSpans": [{"scopeSpans": 3}]}], "resourceSpans must hold lists"),
        ],
    )
    def test_what_cannot_be_trusted_is_refused(self, spans: list[dict[str, Any]], says: str) -> None:
        for several in (spans, spans[::-1]):
            with pytest.raises(ValueError, match=says):
                rm.read_traces([ROOT, *several], query="input")


@recorded
class TestTheRecordings:
    @pytest.mark.parametrize("form", SAME_TRACES)
    def test_one_agent_reads_the_same_in_every_form(self, form: str) -> None:
        t = rm.read_traces(RECORDED / SAME_TRACES[form], citations=cited)
        row = next(iter(t))
        assert [(ids(call), call.turn, call.attempts, call.error is None) for call in t[row].calls] == [
            (["d2", "d1"], 1, 1, True),
            (["d3", "d1"], 2, 1, True),
            (["d7", "d4"], 2, 1, True),
            ([], 3, 1, False),
            (["d7", "d4"], 4, 1, True),
        ]
        assert ids(t[row].context) == ["d2", "d1", "d3", "d7", "d4"]
        assert t[row].citations == ["d2", "d3", "d4"]
        trajectories = rm.Trajectories({"q": t[row]})
        union = rm.evaluate({"q": QRELS}, trajectories.union(), ["map", "ndcg"]).means
        interleaved = rm.evaluate({"q": QRELS}, trajectories.interleaved(), ["map", "ndcg"]).means
        assert [round(value, 6) for value in (*union.values(), *interleaved.values())] == [
            0.755556,
            0.726208,
            0.866667,
            0.768026,
        ]

    def test_the_order_of_the_spans_says_nothing(self) -> None:
        spans = [json.loads(line) for line in (RECORDED / SAME_TRACES["openinference"]).read_text().splitlines()]
        expected = repr(rm.read_traces(spans, citations=cited).union())
        for seed in range(20):
            random.Random(seed).shuffle(spans)
            t = rm.read_traces(spans, citations=cited)
            assert repr(t.union()) == expected
            assert dict(t.union()) == dict(rm.read_traces(RECORDED / SAME_TRACES["openinference"]).union())

    def test_a_postprocessor_inside_a_tool_shows_in_the_context(self) -> None:
        t = rm.read_traces(RECORDED / "llamaindex_openinference_retriever.jsonl", citations=cited)
        (trajectory,) = t.values()
        assert ids(trajectory.calls[1]) == ["d3", "d1", "d6"]
        assert ids(trajectory.context) == ["d2", "d1", "d3", "d7", "d4"]
        assert list(t.properties().per_query["not_in_context"].values()) == [1 / 6]

    def test_what_was_cleared_from_the_models_input_was_not_read(self) -> None:
        t = rm.read_traces(RECORDED / "langchain_openinference_cleared.jsonl", citations=cited)
        values = [
            rm.evaluate(dict.fromkeys(t, QRELS), view, "recall").means["recall"]
            for view in (t.first(), t.union(), t.context(), t.cited())
        ]
        assert values == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 3])
        assert list(t.properties().per_query["cited_not_in_context"].values()) == [2 / 3]

    def test_a_retried_tool(self) -> None:
        (trajectory,) = rm.read_traces(RECORDED / "langchain_openinference_retry.jsonl").values()
        assert [call.attempts for call in trajectory.calls] == [1, 2, 1]

    @pytest.mark.parametrize(
        ("name", "tools", "says"),
        [
            (
                "limits_li.jsonl",
                (),
                "'0x22822111bba94f37' .*documents 28 to 59|documents 28 to 59 .*'0x22822111bba94f37'",
            ),
            ("limits_cut_lc.jsonl", (), "the output of span '0x0c8eb932e9727a13' .* was cut short"),
            ("otel_genai_NO_CONTENT.jsonl", (), "span '0x03d0edc959ced1b4'"),
            ("pydantic_ai_documents_no_content.jsonl", "search", "span '0x72d17c655cae7ef7'"),
            ("pydantic_ai_text.jsonl", "search", "span '0xb2e8bda2010d379b'"),
            ("openai_agents_text.jsonl", "search", "span 'span_"),
            ("openai_agents_openinference.jsonl", "search", "span '0x79079d6d3b4f169a'"),
            ("langchain_openinference_plain.jsonl", "search", "span '0x027b8c7c14f36af3'"),
        ],
    )
    def test_what_was_cut_or_has_no_content_is_refused(self, name: str, tools: Any, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            rm.read_traces(RECORDED / name, tools=tools)

    def test_sixty_documents_in_125_attributes_are_read_whole(self) -> None:
        (trajectory,) = rm.read_traces(RECORDED / "limits_lc.jsonl").values()
        assert ids(trajectory.calls[0]) == [f"c{n:02}" for n in range(60)]

    def test_a_query_engine_tool_gives_the_model_a_synthesis(self) -> None:
        path = RECORDED / "llamaindex_openinference_query_engine.jsonl"
        (trajectory,), (anybody,) = rm.read_traces(path).values(), rm.read_traces(path, context="any").values()
        assert trajectory.context == []
        assert ids(anybody.context) == ["d2", "d1", "d3", "d7", "d4"]

    def test_the_searches_of_a_sub_agent_are_calls_of_the_question(self) -> None:
        (trajectory,) = rm.read_traces(RECORDED / "langchain_openinference_subagent.jsonl").values()
        assert [ids(call) for call in trajectory.calls] == [["d2", "d1"], ["d7", "d4"]]
        assert trajectory.context == []

    @pytest.mark.parametrize(
        ("name", "tools"),
        [
            ("pydantic_ai_documents.jsonl", "search"),
            ("pydantic_ai_tool_return.jsonl", "search"),
            ("openai_agents_documents.jsonl", "search"),
            ("otel_genai_SPAN_ONLY.jsonl", ()),
            ("mlflow_trace_own.json", ()),
        ],
    )
    def test_other_tools_and_hosts(self, name: str, tools: Any) -> None:
        (trajectory,) = rm.read_traces(RECORDED / name, tools=tools).values()
        assert [ids(call) for call in trajectory.calls] == [
            ["d2", "d1"],
            ["d3", "d1", "d6"],
            ["d7", "d4"],
            [],
            ["d7", "d4"],
        ]
        assert [call.error is None for call in trajectory.calls] == [True, True, True, False, True]

    def test_traces_are_told_apart_and_found_by_metadata(self) -> None:
        for form in ("openinference", "phoenix frame", "phoenix parquet", "langsmith", "langfuse", "mlflow"):
            t = rm.read_traces(RECORDED / SAME_TRACES[form], query="metadata.question_id")
            assert list(t) == ["q1"], form
        assert len(rm.read_traces(RECORDED / "langchain_openinference_batch.jsonl")) == 2

    def test_a_frame(self) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.read_parquet(RECORDED / "phoenix_spans.parquet")
        t = rm.read_traces(frame, query="metadata.question_id")
        assert ids(t["q1"].calls[1]) == ["d3", "d1"]


TWO = [{"id": "d1", "text": "one text"}, {"id": "d2", "text": "two text"}]


class TestBrokenTraces:
    """What an exporter, a limit or a hand may do to a trace, and that no number comes of it."""

    def spans(self, **search: Any) -> list[dict[str, Any]]:
        message = {"tool_calls": [{"id": "1", "name": "s", "args": {"query": "a"}}]}
        return [
            {"trace": "t", "span": "r", "parent": None, "kind": "other", "metadata": {"q": True}},
            {"trace": "t", "span": "m", "parent": "r", "kind": "model", "start": 1, "end": 2, "output": message},
            {"trace": "t", "span": "s", "parent": "r", "kind": "retriever", "start": 3, "output": TWO} | search,
        ]

    def test_whole_it_is_read(self) -> None:
        (trajectory,) = rm.read_traces(self.spans()).values()
        assert ids(trajectory.calls[0]) == ["d1", "d2"]

    @pytest.mark.parametrize(
        ("search", "says"),
        [
            ({"parent": "s"}, "span 's' .* of trace 't' is nested inside itself"),
            ({"output": None}, "span 's' .* names no documents"),
            ({"output": "one text"}, "span 's' .* names no documents"),
            ({"output": '[{"id": "d1", "te'}, "the output of span 's' .* was cut short"),
            ({"output": [{"id": "d1"}, {"foo": 1}]}, "span 's' .* names no documents"),
            (
                {"output": [{"documents": TWO}, {"documents": TWO[:1]}]},
                "the output of span 's' .* holds 2 lists of documents that differ",
            ),
            ({"output": [TWO, TWO]}, "span 's' .* names no documents"),
            ({"output": [{"id": ["d1"]}]}, "span 's' .* names no documents"),
            ({"start": "yesterday"}, "the time of span 's' .* cannot be read: Invalid isoformat string"),
            ({"kind": "retreiver"}, "span 's' has the kind 'retreiver'; a plain span is 'retriever', 'reranker',"),
            ({"kind": "other"}, "no retriever span in 1 trace"),
            ({"span": None}, "a span needs an ID and a trace"),
        ],
    )
    def test_broken_it_is_refused_with_the_span(self, search: dict[str, Any], says: str) -> None:
        with pytest.raises(ValueError, match=says):
            rm.read_traces(self.spans(**search))

    def test_what_is_no_id_names_no_question(self) -> None:
        with pytest.raises(ValueError, match=r"none of 1 trace has 'metadata\.q'"):
            rm.read_traces(self.spans(), query="metadata.q")

    def test_an_output_without_an_end_is_refused(self) -> None:
        nested: Any = TWO
        for _ in range(5_000):
            nested = {"output": nested}
        with pytest.raises(ValueError, match=r"the output of span 's' .* is nested too deeply"):
            rm.read_traces(self.spans(output=nested))


ONE_SPAN = {"trace": "t1", "span": "s1", "parent": None, "kind": "retriever", "input": "q", "output": [{"id": "d1"}]}
WRONG_SPANS: list[tuple[Any, str]] = [
    ({**ONE_SPAN, "span": "s2", "start": "soon"}, r"line 3: the time of span 's2' .* of trace 't1' cannot be read"),
    ({"trace": "t1", "kind": "retriever"}, r"line 3: a span needs an ID and a trace"),
    ({"unknown": 1}, r"line 3: a span needs an ID and a trace.* has 'unknown'"),
    (3, r"line 3: a trace must hold spans as objects, got 3"),
    ([1, 2], r"line 3: message 1 of conversation .* is not a message"),
    ({**ONE_SPAN, "kind": "search"}, r"line 3: span 's1' has the kind 'search'"),
    (
        {**ONE_SPAN, "output": [{"id": "d2"}]},
        r"span 's1' .* of trace 't1' \(.*spans\.jsonl, line 3\) was recorded twice.* first in .*spans\.jsonl, line 1",
    ),
    ({**ONE_SPAN, "span": "s2", "output": '[{"id": "d1"'}, r"of span 's2' .* \(.*spans\.jsonl, line 3\) was cut short"),
]


@pytest.mark.parametrize(("wrong_span", "message"), WRONG_SPANS)
def test_an_error_names_the_file_and_the_line_of_its_span(wrong_span: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(f"{json.dumps(ONE_SPAN)}\n\n{json.dumps(wrong_span)}\n{json.dumps({**ONE_SPAN, 'trace': 't2'})}\n")
    with pytest.raises(ValueError, match=message) as raised:
        rm.read_traces(path)
    assert "spans.jsonl, line 3" in str(raised.value)


def test_an_error_names_the_element_of_an_array_or_a_list(tmp_path: Path) -> None:
    spans: list[Any] = [ONE_SPAN, {"trace": "t1", "kind": "retriever"}]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(spans, indent=1))
    with pytest.raises(ValueError, match=r"spans\.json, element 2: a span needs an ID"):
        rm.read_traces(path)
    with pytest.raises(ValueError, match=r"^element 2: a span needs an ID"):
        rm.read_traces(spans)
