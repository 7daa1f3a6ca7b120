"""The rules by which the spans of one trace become the searches, the context and the citations of an agent."""

import json
import random
import sys
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_forms import FOUND, SEARCH_ARGUMENTS, TIMEOUT, call_ids, converse_with_tools
from trace_spans import cited, ids, make_documents, model, read, search, span


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("kw", SEARCH_ARGUMENTS, TIMEOUT), ("vec", SEARCH_ARGUMENTS, json.dumps(FOUND)), [("timeout", 1), (None, 1)]),
        (
            ("kw", {**SEARCH_ARGUMENTS, "year": 2023}, TIMEOUT),
            ("kw", {**SEARCH_ARGUMENTS, "year": 2024}, TIMEOUT),
            [("timeout", 1), ("timeout", 1)],
        ),
        (("kw", SEARCH_ARGUMENTS, TIMEOUT), ("kw", SEARCH_ARGUMENTS, json.dumps(FOUND)), [(None, 2)]),
    ],
    ids=["another tool", "other arguments", "the same"],
)
def test_only_the_same_call_is_a_further_attempt(first: Any, second: Any, expected: Any) -> None:
    spans: list[Any] = [
        {
            "trace": "1",
            "span": str(n),
            "parent": None,
            "kind": "tool",
            "name": tool,
            "input": arguments,
            "output": result,
        }
        for n, (tool, arguments, result) in enumerate((first, second))
    ]
    for source in ([converse_with_tools(first, second)], spans):
        (trajectory,) = rm.read_traces(
            source, tools=[name for name in ("kw", "vec") if name in (first[0], second[0])]
        ).values()
        assert [(call.error, call.attempts) for call in trajectory.calls] == expected


@pytest.mark.parametrize("answer", [None, "", [{"type": "thinking", "thinking": "Hm."}]])
def test_a_model_that_said_nothing_did_not_answer(answer: Any) -> None:
    messages = converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)), answer=answer)
    (trajectory,) = rm.read_traces([messages], tools="search", citations="numbered").values()
    assert (call_ids(trajectory), trajectory.context, trajectory.citations) == ([["d1", "d2"]], None, None)


def test_a_parser_that_knows_nothing_is_said_to() -> None:
    with pytest.raises(ValueError, match=r"got 'x'\. Return a list from documents="):
        rm.read_traces(
            [converse_with_tools(("search", SEARCH_ARGUMENTS, "x"))], tools="search", documents=lambda _: None
        )


class TestTheRules:
    def test_the_outermost_retriever_is_the_call_and_what_lies_inside_is_before_it(self) -> None:
        outer = search("1", 1, "a", make_documents("x"))
        inner = search("2", 1, "a", make_documents("x", "y"), parent="1")
        (call,) = read(outer, inner).calls
        assert ids(call) == ["x"]
        assert [ids(ranking) for ranking in call.inner_rankings] == [["x", "y"]]

    def test_without_documents_those_of_the_nearest_retriever_inside_are_found(self) -> None:
        (call,) = read(
            search("1", 1, "a"), search("2", 1, "a", parent="1"), search("3", 1, "a", make_documents("x"), parent="2")
        ).calls
        assert ids(call) == ["x"]

    def test_what_a_reranker_hands_on_is_found_and_searches_that_it_joins_are_one_call(self) -> None:
        step = span("step", "other", "root")
        dense = search("1", 1, "a", make_documents("x", "y"), parent="step")
        sparse = search("2", 1.1, "a", make_documents("z"), parent="step")
        reranker = span("3", "reranker", "step", start=2, end=3, output=make_documents("z", "x"))
        (call,) = read(step, dense, sparse, reranker).calls
        assert ids(call) == ["z", "x"]
        assert [ids(ranking) for ranking in call.inner_rankings] == [["x", "y"], ["z"]]
        assert call.seconds == 2

    def test_a_tool_counts_only_by_name_and_only_without_a_retriever(self) -> None:
        with_one = [span("t1", "tool", name="lookup"), search("1", 1, "a", make_documents("x"), parent="t1")]
        web = span("t2", "tool", name="web", input={"query": "b"}, output=make_documents("w"), start=2, end=3)
        spans = [*with_one, {**web, "name": "web"}, {**span("t3", "tool"), "name": "sum", "output": 3}]
        assert [ids(call) for call in read(*spans).calls] == [["x"]]
        assert [ids(call) for call in read(*spans, tools=["web"]).calls] == [["x"], ["w"]]
        with pytest.raises(ValueError, match="no tool named 'wob' ran; the tools are 'lookup', 'sum', 'web'"):
            read(*spans, tools="wob")

    def test_parallel_calls_stand_in_the_order_of_the_models_message(self) -> None:
        spans = [
            model("m", 0, "a", "b"),
            search("1", 2, "a", make_documents("x")),
            search("2", 1, "b", make_documents("y")),
        ]
        for _ in range(5):
            random.shuffle(spans)
            assert [call.query for call in read(*spans).calls] == ["a", "b"]

    def test_turns_are_those_of_the_agent_itself(self) -> None:
        spans = [
            model("m1", 0, "a"),
            span("t1", "tool", name="sub", start=1, end=5),
            model("inner1", 1.1, "b", parent="t1"),
            search("1", 2, "b", make_documents("x"), parent="t1"),
            model("inner2", 3, "c", parent="t1"),
            search("2", 4, "c", make_documents("y"), parent="t1"),
            model("m2", 6, "d"),
            search("3", 7, "d", make_documents("z")),
        ]
        assert [(call.query, call.turn) for call in read(*spans).calls] == [("b", 1), ("c", 1), ("d", 2)]

    def test_models_without_a_call_between_them_are_of_one_turn(self) -> None:
        """Some instrumentations write a span for the messages and one for the model, others wrap one in the other."""
        spans = [
            model("prepared1", 0),
            model("m1", 0.5, "b", "a"),
            search("1", 2, "a", make_documents("x")),
            search("2", 2.1, "b", make_documents("y")),
            model("outer", 3),
            model("m2", 3, "c", parent="outer"),
            search("3", 4, "c", make_documents("z")),
        ]
        assert [(call.query, call.turn) for call in read(*spans).calls] == [("b", 1), ("a", 1), ("c", 2)]

    def test_a_model_that_works_for_a_search_takes_no_turn_of_the_agent(self) -> None:
        spans = [
            model("m1", 0, "a"),
            search("1", 1, "a", make_documents("x")),
            model("rewriter", 1.1, parent="1", read="the text of y"),
            search("2", 1.7, "a", make_documents("y"), parent="1"),
            model("m2", 3, "b", read="the text of x"),
            search("3", 4, "b", make_documents("y")),
        ]
        trajectory = read(*spans, context="any")
        assert [call.turn for call in trajectory.calls] == [1, 2]
        assert ids(trajectory.context) == ["x"]

    def test_a_retry_is_an_attempt_even_if_another_call_starts_in_between(self) -> None:
        spans = [
            model("m1", 0, "a", "b"),
            search("1", 1, "a", error="blip"),
            search("2", 1.5, "b", make_documents("y")),
            search("3", 2, "a", make_documents("x")),
            model("m2", 3, "a"),
            search("4", 4, "a", make_documents("x")),
        ]
        calls = read(*spans).calls
        assert [(call.query, call.attempts, call.turn, call.error) for call in calls] == [
            ("a", 2, 1, None),
            ("b", 1, 1, None),
            ("a", 1, 2, None),
        ]
        assert calls[0].seconds == 0.5

    def test_unknown_questions_are_not_the_same_question(self) -> None:
        spans = [search("1", 1, None, error="blip"), search("2", 2, None, make_documents("x"))]  # type: ignore[arg-type]
        assert len(read(*spans).calls) == 2

    def test_a_call_id_that_is_the_same_for_all_says_nothing(self) -> None:
        spans = [
            {**span("1", "tool", call="x", input={"query": "a"}, start=1, error="blip"), "name": "s"},
            {**span("2", "tool", call="x", input={"query": "b"}, start=2, output=make_documents("x")), "name": "s"},
        ]
        assert [call.query for call in read(*spans, tools="s").calls] == ["a", "b"]

    def test_the_context_is_what_the_answering_model_has_read_whole(self) -> None:
        spans = [
            model("m1", 0, "a"),
            search("1", 1, "a", make_documents("x", "y", "z")),
            model(
                "m2",
                2,
                read=["the text\\n of  x", {"artifact": "the text of y", "content": "the text of"}],
                answer="[x]",
            ),
        ]
        trajectory = read(*spans, citations=cited)
        assert ids(trajectory.context) == ["x"]
        assert trajectory.citations == ["x"]
        assert read(*spans).citations is None

    def test_what_a_search_found_is_no_answer(self) -> None:
        spans = [search("1", 1, "a", make_documents("x")), {**model("m", 2, read="the text of x"), "output": None}]
        alone = [{**recorded_span, "parent": None} for recorded_span in spans]
        assert rm.read_traces(alone, citations=lambda answer: [answer])["t"].citations is None

    def test_without_an_answer_what_was_read_and_cited_is_unknown(self) -> None:
        asks = model("m1", 0, "a", answer="I look [y].")
        search_span = search("1", 1, "a", make_documents("x"))
        later = search("2", 4, "b", make_documents("y"))
        for spans in ([asks, search_span], [asks, search_span, {**model("m2", 2), "error": "overloaded"}]):
            trajectory = read(*spans, citations=cited)
            assert (trajectory.context, trajectory.citations) == (None, None)
        answered = model("m2", 2, read=["the text of x"], answer="[x]")
        trajectory = read(asks, search_span, answered, later, citations=cited)
        assert (ids(trajectory.context), trajectory.citations) == (["x"], ["x"])

    def test_what_a_model_inside_a_tool_has_read_counts_only_if_asked_for(self) -> None:
        spans = [
            model("m1", 0, "a"),
            span("t", "tool", start=1, end=3),
            search("1", 1, "a", make_documents("x", "y"), parent="t"),
            model("inner", 2, read=["the text of x"], parent="t"),
            model("m2", 4, read=["a synthesis"]),
            span("r", "reranker", "t", start=1.5, end=1.6),
            model("judge", 1.5, read=["the text of y"], parent="r"),
        ]
        spans[5] = {**spans[5], "kind": "other", "name": "LLMRerank"}
        assert read(*spans).context == []
        assert ids(read(*spans, context="any").context) == ["x"]

    @pytest.mark.parametrize(
        "spans",
        [
            [search("1", 1, "a", make_documents("x"))],
            [search("1", 1, "a", [{"id": "x"}]), model("m", 2, read=["x"])],
            [search("1", 1, "a", make_documents("x")), {**model("m", 2), "input": None}],
            [search("1", 1, "a", make_documents("x")), {**model("m", 2), "input": "__REDACTED__"}],
        ],
        ids=["no model", "no text", "no input", "hidden"],
    )
    def test_a_context_that_cannot_be_told_is_unknown(self, spans: Any) -> None:
        assert read(*spans).context is None

    def test_no_documents_are_not_none_found(self) -> None:
        assert ids(read(search("1", 1, "a", [])).calls[0]) == []
        for output in (None, "some text", {"answer": 3}, ["d1", "d2"]):
            with pytest.raises(ValueError, match=r"span '1' \(retriever\) of trace 't' names no documents"):
                read(search("1", 1, "a", output))

    def test_a_parser_reads_documents_of_no_known_form(self) -> None:
        spans = [{**span("1", "tool", input="a", output="[d1] one; [d2] two"), "name": "s"}]
        assert list(read(*spans, tools="s", documents=cited).calls[0].ranking) == ["d1", "d2"]
        with pytest.raises(ValueError, match="names no documents"):
            read(*spans, tools="s", documents=lambda _: None)
        with pytest.raises(TypeError, match="documents= of span '1'"):
            read(*spans, tools="s", documents=lambda _: "d1")


def deep_trace(n_spans: int) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = [{"trace": "t", "span": "0", "parent": None, "kind": "other", "input": "q1"}]
    for number in range(1, n_spans):
        spans.append({"trace": "t", "span": str(number), "parent": str(number - 1), "kind": "other", "input": ""})
    return [*spans, search_span("s", str(n_spans - 1))]


def wide_trace(n_spans: int) -> list[dict[str, Any]]:
    root = {"trace": "t", "span": "0", "parent": None, "kind": "other", "input": "q1"}
    return [root, *(search_span(f"s{number}", "0") for number in range(n_spans))]


def search_span(span: str, parent: str) -> dict[str, Any]:
    documents = [{"id": f"d{span}", "text": "text"}]
    return {"trace": "t", "span": span, "parent": parent, "kind": "retriever", "input": span, "output": documents}


@pytest.mark.parametrize("make", [deep_trace, wide_trace])
def test_steps_are_linear_in_the_spans(make: Any) -> None:
    n_steps = []
    for n_spans in (100, 200, 400):
        counted = 0

        def count(*_: Any) -> None:
            nonlocal counted
            counted += 1

        spans = make(n_spans)
        sys.setprofile(count)
        try:
            trajectories = rm.read_traces(spans, query="input")
        finally:
            sys.setprofile(None)
        assert len(trajectories["q1"].calls) == (1 if make is deep_trace else n_spans)
        n_steps.append(counted)
    # The second doubling costs at most twice the first one, and a quarter more.
    assert n_steps[2] - n_steps[1] <= 2.5 * (n_steps[1] - n_steps[0])
