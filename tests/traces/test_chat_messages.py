"""Conversations: twelve scenarios in the form of every library, each count against one worked out by hand."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from agent_forms import (
    D1,
    FOUND,
    MESSAGES,
    SEARCH_ARGUMENTS,
    call_ids,
    chat,
    converse_with_tools,
    langsmith,
    openinference,
    otlp,
    plain_spans,
)
from agent_scenarios import SCENARIOS, TEXTS, check, cited, ids_of


def read(source: Any, name: str) -> rm.Trajectories:
    return rm.read_traces(source, citations=cited if SCENARIOS[name].citations == "ids" else None, tools="search")


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("form", MESSAGES)
def test_every_scenario_counts_the_same_in_every_form(form: str, name: str) -> None:
    tool = "ask" if name == "nested" and form != "claude_code" else "search"  # whose inner searches can be seen
    check(MESSAGES[form][name], name, form, tool)


class TestWhereMessagesStand:
    def test_a_mapping_of_questions(self) -> None:
        conversations = {7: MESSAGES["anthropic"]["empty"], 8: {"messages": MESSAGES["openai_chat"]["errors"]}}
        t = rm.read_traces(conversations, tools="search")
        assert list(t) == [7, 8]
        assert [call_ids(trajectory) for trajectory in t.values()] == [[[], ["d1"]], [[], ["d1"]]]

    def test_a_conversation_in_each_line_of_a_file_with_the_id_of_its_question(self, tmp_path: Path) -> None:
        path = tmp_path / "log.jsonl"
        lines = [
            {"id": f"run {n}", "messages": MESSAGES["langgraph"][name], "metadata": {"question": f"q{n}"}}
            for n, name in enumerate(("empty", "parallel"), start=1)
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        assert list(rm.read_traces(path, tools="search")) == ["run 1", "run 2"]
        t = rm.read_traces(path, tools="search", query="metadata.question")
        assert [len(t[query].calls) for query in ("q1", "q2")] == [2, 3]
        question = "Which letter comes when?"
        assert list(rm.read_traces(path, tools="search", query="input")) == [f"{question}#1", f"{question}#2"]

    @pytest.mark.parametrize("form", ["claude_code", "codex", "openai_responses"])
    def test_a_message_in_each_line_and_the_lines_that_are_none_are_counted(self, form: str, tmp_path: Path) -> None:
        path = tmp_path / "session.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in MESSAGES[form]["parallel"]))
        (trajectory,) = rm.read_traces(path, tools="search").values()
        assert [call.query for call in trajectory.calls] == ["a", "b", "c"]
        notes = {"claude_code": "1 line", "codex": "2 lines"}
        expected_notes = [f"{notes[form]} between the messages ignored"] if form in notes else []
        assert list(rm.read_traces(path, tools="search").notes) == expected_notes

    def test_a_request_with_its_response(self) -> None:
        *before, answer = MESSAGES["anthropic"]["several blocks"]
        (trajectory,) = read([{"messages": before, "response": answer}], "several blocks").values()
        assert trajectory.citations == ["d1", "d2"]
        *items, message = MESSAGES["openai_responses"]["several blocks"]
        (trajectory,) = read([{"input": items, "output": [message]}], "several blocks").values()
        assert trajectory.citations == ["d1", "d2"]

    def test_a_list_in_each_line_of_a_file_is_a_conversation_or_a_trace(self, tmp_path: Path) -> None:
        spans = plain_spans(SCENARIOS["empty"])
        for several, tool in (
            ([MESSAGES["anthropic"][name] for name in ("empty", "empty")], "search"),
            ([spans] * 2, ()),
        ):
            again = [
                [
                    {**trajectory, "trace": f"t{n}"} if "trace" in trajectory else trajectory
                    for trajectory in conversation
                ]
                for n, conversation in enumerate(several)
            ]
            path = tmp_path / "log.jsonl"
            path.write_text("\n".join(map(json.dumps, again)))
            for source in (path, again):
                assert [call_ids(trajectory) for trajectory in rm.read_traces(source, tools=tool).values()] == [
                    [[], ["d1"]]
                ] * 2

    def test_messages_in_a_column_of_a_table_as_objects_and_as_json(self) -> None:
        messages = MESSAGES["openai_chat"]["empty"]
        for column_value in (messages, json.dumps(messages)):
            t = rm.read_traces(pd.DataFrame([{"id": "q1", "messages": column_value}]), tools="search")
            assert [(name, call_ids(trajectory)) for name, trajectory in t.items()] == [("q1", [[], ["d1"]])]

    def test_lines_of_several_sessions(self) -> None:
        lines = MESSAGES["claude_code"]["empty"]
        t = rm.read_traces([*lines, *({**line, "sessionId": "s2"} for line in lines[1:])], tools="search")
        assert [(name, call_ids(trajectory)) for name, trajectory in t.items()] == [
            ("s1", [[], ["d1"]]),
            ("s2", [[], ["d1"]]),
        ]

    def test_a_conversation_without_a_search_is_said_to_have_none(self) -> None:
        with pytest.raises(ValueError, match=r"tools that ran: 'search'; .* name it: tools=\['search'\]"):
            rm.read_traces(MESSAGES["openai_chat"]["empty"])
        with pytest.raises(ValueError, match="no tool named 'seek' ran; the tools are 'search'"):
            rm.read_traces(MESSAGES["openai_chat"]["empty"], tools="seek")
        tool_calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("add", "kb_search")]
        results = [{"role": "tool", "tool_call_id": name, "content": "1"} for name in ("add", "kb_search")]
        messages = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": tool_calls}, *results]
        with pytest.raises(ValueError, match=r"tools that ran: 'add', 'kb_search'; .* name it: tools=\['kb_search'\]"):
            rm.read_traces(messages)

    def test_numbers_in_the_last_answer_mean_documents_of_its_own_turn(self) -> None:
        documents = {name: [{"id": name, "text": f"the text of {name}"}] for name in ("old", "new")}
        first = [*chat("who?", [("1", "a")], ("1", documents["old"])), {"role": "assistant", "content": "So [1]."}]
        second = [*chat("when?", [("2", "b")], ("2", documents["new"])), {"role": "assistant", "content": "So [1]."}]
        t = rm.read_traces({"q": [*first, *second]}, tools="search", citations="numbered")
        assert t["q"].citations == ["new"]
        assert ids_of(t["q"].context or ()) == ["old", "new"]
        (note,) = t.notes
        assert "{'q, turn 1': messages[:4], 'q, turn 2': messages[4:]}" in note
        split = rm.read_traces({"q, turn 1": first, "q, turn 2": second}, tools="search", citations="numbered")
        assert [trajectory.citations for trajectory in split.values()] == [["old"], ["new"]]
        assert split.notes == ()
        follow_up = [*first, {"role": "user", "content": "Sure?"}, {"role": "assistant", "content": "Yes [1]."}]
        t = rm.read_traces({"q": follow_up}, tools="search", citations="numbered")
        assert t["q"].citations == ["[1]"]  # nothing was read in this turn

    def test_what_the_user_says_before_an_answer_begins_no_turn(self) -> None:
        greeting = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]
        messages = [*greeting, *chat("who?", "quickly", [("1", "a")], ("1", D1))]
        t = rm.read_traces(
            [*messages, {"role": "assistant", "content": "So [1]."}], tools="search", citations="numbered"
        )
        assert t["1"].citations == ["d1"]
        assert t.notes == ()

    def test_messages_have_no_times(self) -> None:
        (trajectory,) = rm.read_traces(MESSAGES["openai_chat"]["retries"], tools="search").values()
        assert [call.seconds for call in trajectory.calls] == [None]


class TestCallsAndResults:
    def test_results_without_ids_belong_to_the_calls_that_wait_in_their_order(self) -> None:
        messages = chat("q", [(None, "a"), (None, "b")], (None, D1), (None, []), [(None, "c")], (None, D1))
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        assert [(call.query, call.turn) for call in trajectory.calls] == [("a", 1), ("b", 1), ("c", 2)]
        assert call_ids(trajectory) == [["d1"], [], ["d1"]]
        google = [
            {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"query": "a"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"result": D1}}}]},
            {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "It is [d1]."}]},
        ]
        (trajectory,) = rm.read_traces(google, tools="search", citations=cited).values()
        assert (trajectory.calls[0].query, call_ids(trajectory), trajectory.citations) == ("a", [["d1"]], ["d1"])

    def test_a_model_may_name_the_calls_of_every_turn_alike(self) -> None:
        messages = chat("q", [("c", "a")], ("c", []), [("c", "b")], ("c", D1), [("c", "b")], ("c", D1))
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        assert [(call.query, call.turn) for call in trajectory.calls] == [("a", 1), ("b", 2), ("b", 3)]
        assert call_ids(trajectory) == [[], ["d1"], ["d1"]]

    def test_calls_of_one_message_may_be_named_alike_or_not_at_all(self) -> None:
        for id_ in ("c", ""):
            messages = chat("q", [(id_, "a"), (id_, "b")], (id_, D1), (id_, []))
            (trajectory,) = rm.read_traces(messages, tools="search").values()
            assert [(call.query, len(call.ranking)) for call in trajectory.calls] == [("a", 1), ("b", 0)]

    def test_a_result_before_its_call_and_one_that_is_there_twice(self) -> None:
        call, result = chat([("1", "a")], ("1", D1))
        answer = {"role": "assistant", "content": "So."}
        for messages in ([result, call], [call, result, result], [call, result, result, answer]):
            (trajectory,) = rm.read_traces([*chat("q"), *messages], tools="search").values()
            assert [(call.query, call.error) for call in trajectory.calls] == [("a", None)]
            assert call_ids(trajectory) == [["d1"]]
        (trajectory,) = rm.read_traces([call, result, {**result, "content": []}], tools="search").values()
        assert call_ids(trajectory) == [["d1"], []]

    def test_of_a_stream_the_last_word_on_a_call_counts(self) -> None:
        first, last, result = chat([("1", "")], [("1", "a")], ("1", D1))
        (trajectory,) = rm.read_traces([first, last, result], tools="search").values()
        assert [(call.query, len(call.ranking)) for call in trajectory.calls] == [("a", 1)]

    def test_a_question_that_was_cut_is_unknown(self) -> None:
        call, result = chat([("1", "a")], ("1", D1))
        call["tool_calls"][0]["function"]["arguments"] = '{"query": "whe'
        (trajectory,) = rm.read_traces([call, result], tools="search").values()
        assert [(call.query, len(call.ranking)) for call in trajectory.calls] == [(None, 1)]

    def test_ids_that_a_frame_has_not_are_no_ids(self) -> None:
        documents = '[{"id": NaN, "text": "Alpha."}, {"id": NaN, "text": "Beta."}]'
        (trajectory,) = rm.read_traces(
            [*chat([("1", "a")]), {**chat(("1", ""))[0], "content": documents}], tools="search"
        ).values()
        assert (call_ids(trajectory), trajectory.properties()["distinct"]) == ([[None, None]], 2)

    def test_parallel_calls_stand_in_the_order_of_the_message_whatever_came_back_first(self) -> None:
        messages = chat("q", [("1", "a"), ("2", "b")], ("2", D1), ("1", []))
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        assert [call.query for call in trajectory.calls] == ["a", "b"]

    @pytest.mark.parametrize("form", MESSAGES)
    def test_where_no_answer_was_recorded_what_was_read_and_cited_is_unknown(self, form: str) -> None:
        messages = MESSAGES[form]["parallel"]
        without = messages[: next(n for n, message in enumerate(messages) if "So it is." in json.dumps(message))]
        for rule in (None, cited, "numbered"):
            (whole_trajectory,) = rm.read_traces(messages, tools="search", citations=rule).values()
            (trajectory,) = rm.read_traces(without, tools="search", citations=rule).values()
            assert trajectory.calls == whole_trajectory.calls
            assert (ids_of(whole_trajectory.context), trajectory.context, trajectory.citations) == (
                ["d1", "d2", "d3"],
                None,
                None,
            )
            (anybody,) = rm.read_traces(without, tools="search", context="any").values()
            assert anybody.context == []

    def test_what_was_found_after_the_answer_was_not_read(self) -> None:
        messages = [*chat("q", [("1", "a")], ("1", D1)), {"role": "assistant", "content": "It is [d1]."}]
        other = {
            "role": "tool",
            "tool_call_id": "2",
            "name": "search",
            "content": json.dumps([{"id": "d2", "text": "Beta."}]),
        }
        (trajectory,) = rm.read_traces([*messages, other], tools="search", citations=cited).values()
        assert (ids_of(trajectory.context), trajectory.citations) == (["d1"], ["d1"])

    @pytest.mark.parametrize("beside", ["artifact", "metadata"])
    def test_what_is_kept_beside_a_result_was_not_read(self, beside: str) -> None:
        messages = [*chat("q", [("1", "a")], ("1", "Alpha.")), {"role": "assistant", "content": "So."}]
        messages[2][beside] = {"documents": D1}
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        assert (call_ids(trajectory), trajectory.context) == ([["d1"]], [])

    def test_what_a_sub_agent_read_is_not_what_the_agent_read(self) -> None:
        lines = MESSAGES["claude_code"]["nested"]
        by_id = [
            {**line, "isSidechain": None, "parent_tool_use_id": "call_1_0" if line.get("isSidechain") else None}
            for line in lines
        ]
        for source in (lines, by_id):
            (alone,), (anybody,) = (
                rm.read_traces(source, tools="search", context=by).values() for by in ("answer", "any")
            )
            assert (call_ids(alone), alone.context) == ([["d1", "d2"]], [])
            assert ids_of(anybody.context) == ["d1", "d2"]

    def test_a_tool_that_openai_runs_holds_its_result(self) -> None:
        call = {"type": "mcp_call", "id": "m1", "name": "search", "arguments": '{"query": "a"}', "server_label": "s"}
        failed = {**call, "id": "m2", "output": None, "error": "index offline"}
        messages = [{"role": "user", "content": "q"}, {**call, "output": json.dumps(D1)}, failed]
        answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is [d1]."}]}
        (trajectory,) = rm.read_traces([*messages, answer], tools="search", citations=cited).values()
        assert [(call.query, call.error) for call in trajectory.calls] == [("a", None), ("a", "index offline")]
        assert (ids_of(trajectory.context), trajectory.citations) == (["d1"], ["d1"])

    def test_a_result_that_cannot_be_read_is_counted_and_the_others_are_read(self) -> None:
        messages = chat("q", [("1", "a")], ("1", D1), [("2", "b")], ("2", "Nothing was found."))
        t = rm.read_traces(messages, tools="search")
        assert [call.error is None for call in t["1"].calls] == [True, False]
        assert t.notes[0].startswith(
            "1 result unreadable, counted as a failed search: span '2' (search) of trace '1' names no"
        )
        with pytest.raises(ValueError, match="names no documents"):
            rm.read_traces(chat("q", [("2", "b")], ("2", "Nothing was found.")), tools="search")

    def test_a_result_that_an_agent_has_cut_is_counted_too(self) -> None:
        for cut in ('[{"id": "d1", "text": "Alp... [truncated]', '[{"id": "d1"}]\n(1 of 9)'):
            messages = chat("q", [("1", "a")], ("1", cut), [("2", "b")], ("2", D1))
            t = rm.read_traces(messages, tools="search")
            assert [call.error is None for call in t["1"].calls] == [False, True]
            assert t.notes[0].endswith("the output of span '1' (search) of trace '1' was cut short")

    def test_json_of_json_and_the_blocks_of_a_search_result_are_read(self) -> None:
        blocks = [{"type": "text", "text": "Alpha is the"}, {"type": "text", "text": " first letter."}]
        for result in (json.dumps(json.dumps(D1)), [{"type": "search_result", "source": "d1", "content": blocks}]):
            messages = [*chat("q", [("1", "a")], ("1", result)), {"role": "assistant", "content": "So."}]
            (trajectory,) = rm.read_traces(messages, tools="search").values()
            assert (call_ids(trajectory), ids_of(trajectory.context)) == ([["d1"]], ["d1"])

    def test_a_parser_may_raise_to_say_that_a_search_failed(self) -> None:
        def parse(output: str) -> list[str]:
            if output.startswith("Sorry"):
                raise RuntimeError(output)
            return cited(output)

        messages = chat("q", [("1", "a")], ("1", "[d1] and [d2]"), [("2", "b")], ("2", "Sorry, down"))
        t = rm.read_traces(messages, tools="search", documents=parse)
        assert [(call.ranking, call.error is None) for call in t["1"].calls] == [(["d1", "d2"], True), ((), False)]
        with pytest.raises(ValueError, match=r"documents= of span '2' .* raised RuntimeError: Sorry, down"):
            rm.read_traces(chat("q", [("2", "b")], ("2", "Sorry, down")), tools="search", documents=parse)


MCP = {
    "structured": {
        "content": [{"type": "text", "text": "Alpha"}],
        "structuredContent": {"result": D1},
        "isError": False,
    },
    "a list in a text": {"content": [{"type": "text", "text": json.dumps(D1)}]},
    "an object in a text": {"content": [{"type": "text", "text": json.dumps({"documents": D1})}]},
    "a block for each document": {"content": [{"type": "text", "text": json.dumps(D1[0])}]},
    "a list of blocks": [{"type": "text", "text": json.dumps(D1[0])}],
    "resource": [{"type": "resource", "resource": {"uri": "d1", "text": TEXTS["d1"], "mimeType": "text/plain"}}],
    "search result": [
        {"type": "search_result", "source": "d1", "title": "A", "content": [{"type": "text", "text": TEXTS["d1"]}]}
    ],
    "link": [{"type": "resource_link", "uri": "d1", "name": "a"}],
}


@pytest.mark.parametrize("name", MCP)
def test_results_of_mcp_are_read_in_messages_and_in_spans(name: str) -> None:
    text = None if name == "link" else TEXTS["d1"]
    span = {"trace": "t", "span": "s", "parent": None, "kind": "tool", "name": "search", "input": "a"}
    for source in (
        chat("q", [("1", "a")], ("1", MCP[name])),
        chat("q", [("1", "a")], ("1", json.dumps(MCP[name]))),
        [{**span, "output": MCP[name]}],
        [{**span, "output": json.dumps(MCP[name])}],
    ):
        (trajectory,) = rm.read_traces(source, tools="search").values()
        ranking: Any = trajectory.calls[0].ranking
        assert [(item.id, item.text) for item in ranking] == [("d1", text)]


@pytest.mark.parametrize("as_text", [False, True])
def test_an_error_of_mcp_is_a_failed_search_and_an_empty_list_is_not(as_text: Any) -> None:
    failed: Any = {"content": [{"type": "text", "text": "index offline"}], "isError": True}
    empty: Any = {"content": [], "structuredContent": {"result": []}, "isError": False}
    contents = (json.dumps(failed), json.dumps(empty)) if as_text else (failed, empty)
    spans = [
        {"trace": "t", "span": str(n), "parent": None, "kind": "tool", "name": "search", "start": n, "output": output}
        for n, output in enumerate(contents)
    ]
    for source in (chat("q", [("1", "a")], ("1", contents[0]), [("2", "b")], ("2", contents[1])), spans):
        (trajectory,) = rm.read_traces(source, tools="search").values()
        assert [(call.error, call.ranking) for call in trajectory.calls] == [("index offline", ()), (None, [])]


MESSAGES_WITH_SEARCH: list[Any] = [
    {"role": "user", "content": "Which letter?"},
    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": '{"query": "a"}'}}]},
    {"role": "tool", "tool_call_id": "c", "content": '[{"id": "d1", "text": "A letter."}]'},
]


@pytest.mark.parametrize(
    "answer",
    [
        "Its role: d1.",
        {"role": "assistant", "content": "d1"},
        {"choices": [{"message": {"role": "assistant", "content": "d1"}}]},
        [{"role": "assistant", "content": "d1"}],
    ],
)
@pytest.mark.parametrize("under", ["output", "response"])
def test_the_answer_beside_the_messages_is_a_text_or_a_message(answer: Any, under: str) -> None:
    trajectories = rm.read_traces(
        [{"id": "q", "messages": MESSAGES_WITH_SEARCH, under: answer}],
        tools="search",
        citations=lambda text: re.findall(r"d\d", text),
    )
    assert trajectories["q"].citations == ["d1"]
    assert [item.id for item in trajectories.context()["q"]] == ["d1"]


@pytest.mark.parametrize("stray", [None, "d1"])
def test_what_is_no_message_among_messages_is_an_error(stray: Any) -> None:
    with pytest.raises(ValueError, match=f"message 4 of conversation 'q' is not a message: {stray!r}"):
        rm.read_traces({"q": [*MESSAGES_WITH_SEARCH, stray]}, tools="search")


SPANS: Any = {"spans": plain_spans, "openinference": openinference, "otlp": otlp, "langsmith": langsmith}


def broken(source: list[Any], rng: random.Random) -> list[Any]:
    """Return messages or spans with something changed that no library would write."""
    source = json.loads(json.dumps(source))
    for _ in range(rng.randint(1, 3)):
        places: list[tuple[Any, Any]] = [(source, key_) for key_ in range(len(source))]
        for container, key in places:
            inside = container[key]
            if isinstance(inside, (dict, list)):
                places += [(inside, key_) for key_ in (inside if isinstance(inside, dict) else range(len(inside)))]
        container, key = rng.choice(places or [([None], 0)])
        value = container[key]
        container[key] = rng.choice(
            [None, "", [], {}, 0, True, "d1", [value], {"content": value}, json.dumps(value), [{"id": []}]]
        )
    return source


@pytest.mark.parametrize("form", [*MESSAGES, "spans", "openinference", "otlp", "langsmith"])
def test_whatever_is_broken_is_read_or_refused_in_words(form: str) -> None:
    refused: list[str] = []
    for seed in range(120):
        rng = random.Random(seed)
        scenario = rng.choice([*SCENARIOS])
        source = MESSAGES[form][scenario] if form in MESSAGES else SPANS[form](SCENARIOS[scenario])
        broken_source = broken(source, rng)
        try:
            rm.read_traces(broken_source, tools=rng.choice(["search", ()]), citations=rng.choice([None, "numbered"]))
        except ValueError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 120
    assert max(map(len, refused)) < 900


def test_tools_of_the_provider_end_the_part_of_a_message_that_asked_for_them() -> None:
    blocks: list[Any] = [{"type": "text", "text": "Let me look."}]
    for id_, query in (("a", "x"), ("b", "y")):
        documents = [{"type": "web_search_result", "url": f"https://{query}.example", "title": query}]
        blocks.append({"type": "server_tool_use", "id": id_, "name": "web_search", "input": {"query": query}})
        blocks.append({"type": "web_search_tool_result", "tool_use_id": id_, "content": documents})
    blocks.append({"type": "text", "text": "It is y.", "citations": [{"url": "https://y.example", "cited_text": "y"}]})
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "id": "m", "content": blocks}]
    (trajectory,) = rm.read_traces([messages], tools="web_search").values()
    assert [(call.query, call.turn) for call in trajectory.calls] == [("x", 1), ("y", 2)]
    assert trajectory.citations == ["https://y.example"]


def test_what_a_coding_agent_has_summed_up_is_no_longer_read() -> None:
    lines = [
        {"type": message["role"], "message": message}
        for message in converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)))
    ]
    summary = {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "So far: letters."}}
    for between, read in (([], ["d1", "d2"]), ([summary], [])):
        (trajectory,) = rm.read_traces([*lines[:-1], *between, lines[-1]], tools="search").values()
        assert (call_ids(trajectory), ids_of(trajectory.context)) == ([["d1", "d2"]], read)


def test_chunks_of_a_message_are_to_be_added_first() -> None:
    chunks = [{"type": "AIMessageChunk", "id": "r", "content": text} for text in ("It is [1]", " and [2].")]
    messages = converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)))[:-1]
    (trajectory,) = rm.read_traces([[*messages, chunks[0]]], tools="search", citations="numbered").values()
    assert trajectory.citations == ["d1"]
    with pytest.raises(ValueError, match="message 5 of conversation '1' is one of several chunks of a message; add"):
        rm.read_traces([[*messages, *chunks]], tools="search")


def test_the_question_may_stand_under_any_key_beside_the_messages() -> None:
    conversations = [
        {"question_id": f"q{n}", "messages": converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)))}
        for n in (1, 2)
    ]
    assert list(rm.read_traces(conversations, tools="search", query="question_id")) == ["q1", "q2"]
    with pytest.raises(ValueError, match=r"none of 2 traces has 'qid', .* has 'question_id', 'messages'"):
        rm.read_traces(conversations, tools="search", query="qid")


def test_a_conversation_in_which_no_tool_ran_has_no_search_and_a_wrong_name_is_refused() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "Hello."}]
    (trajectory,) = rm.read_traces([messages], tools="search").values()
    assert (trajectory.calls, trajectory.context) == ([], [])
    with pytest.raises(TypeError, match="tools= must name the tools that search, as in 'search', got 5"):
        rm.read_traces([messages], tools=5)  # type: ignore[arg-type]  # the point
    hosted = {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "a"}, "status": "completed"}
    with pytest.raises(
        ValueError, match=r"'search' ran; none did, .*; 1 span with a tool .* \('web_search_call'\) excluded"
    ):
        rm.read_traces([[messages[0], hosted, messages[1]]], tools="search")


@pytest.mark.parametrize("wrap", [dict, lambda conversations: [*conversations.values()]])
def test_a_conversation_that_never_began_is_one_without_searches(wrap: Any) -> None:
    t = rm.read_traces(
        wrap({"q1": [], "q2": converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)))[:-1]}),
        tools="search",
    )
    assert [(len(trajectory.calls), trajectory.context) for trajectory in t.values()] == [(0, None), (1, None)]
