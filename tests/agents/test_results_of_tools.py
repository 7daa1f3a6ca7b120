"""What tools answer with: results under names of their own, in blocks of messages, of a provider, or none at all."""

import json
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_forms import D1, chat
from agent_scenarios import TEXTS, ids_of


def ids(one: rm.Trajectory) -> list[list[Any]]:
    return [ids_of(call.ranking) for call in one.calls]


class TestToolsOfOnesOwn:
    @pytest.mark.parametrize(
        "result",
        [
            {"results": [{"doc_id": "d1", "text": TEXTS["d1"], "source": "letters.md"}]},
            {"query": "a", "hits": {"total": 1, "hits": [{"_id": "d1", "text": TEXTS["d1"], "url": "letters.md"}]}},
            {"matches": [{"docno": "d1", "content": TEXTS["d1"], "metadata": {"source": "letters.md"}, "url": "no"}]},
            [{"chunk_id": "d1", "text": TEXTS["d1"], "uri": "letters.md"}],
        ],
    )
    def test_their_results_have_the_usual_names(self, result: Any) -> None:
        said = [*chat("q", [("1", "a")], ("1", json.dumps(result))), {"role": "assistant", "content": "So."}]
        (one,) = rm.read_traces(said, tools="search").values()
        item: Any
        (item,) = one.calls[0].ranking
        assert (item.id, item.text, item.source) == ("d1", TEXTS["d1"], "letters.md")
        assert one.context == [item]

    def test_two_lists_that_differ_are_not_read(self) -> None:
        both = {"documents": D1, "results": [{"id": "d2", "text": TEXTS["d2"]}]}
        with pytest.raises(ValueError, match="it holds 2 lists of documents that differ"):
            rm.read_traces(chat("q", [("1", "a")], ("1", json.dumps(both))), tools="search")

    @pytest.mark.parametrize(
        "mark", [{"is_error": "true"}, {"is_error": True}, {"status": "ERROR"}, {"status": "Failed"}]
    )
    def test_a_failure_is_one_in_any_case_of_letters(self, mark: Any) -> None:
        used = {"type": "tool_use", "id": "c", "name": "search", "input": {"query": "a"}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": "index offline", **mark}
        said = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
        (one,) = rm.read_traces(said, tools="search").values()
        assert [call.error for call in one.calls] == ["index offline"]

    def test_a_tool_of_the_provider_that_is_named_is_counted_and_not_left_out(self) -> None:
        found = [{"type": "web_search_result", "url": "https://letters.example", "title": "Letters"}]
        said = [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "a"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": found},
            {"type": "text", "text": "It is alpha."},
        ]
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": said}]
        t = rm.read_traces([messages], tools="web_search")
        assert [ids(one) for one in t.values()] == [[["https://letters.example"]]]
        assert t.notes == ()
        other = [{"role": "user", "content": "q"}, *chat([("1", "a")], ("1", D1))]
        (note,) = rm.read_traces([messages, other], tools="search").notes
        assert note.startswith("1 span with a tool of the model's provider ('server_tool_use') left out")

    def test_a_file_search_of_openai_counts_if_it_is_named(self) -> None:
        texts = "Alpha is the first letter.", "Alpha was an ox."
        found = [{"file_id": "f1", "filename": "letters.md", "score": 0.5, "text": text} for text in texts]
        call = {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["alpha", "first letter"]}
        cites = [{"type": "file_citation", "index": 3, "file_id": "f1", "filename": "letters.md"}]
        answer = [{"type": "output_text", "text": "It is alpha.", "annotations": cites}]
        said = [{"role": "user", "content": "q"}, {"type": "message", "role": "assistant", "content": answer}]
        said.insert(1, {**call, "results": found})
        (one,) = rm.read_traces([said], tools="file_search_call").values()
        assert [(call.query, call.error) for call in one.calls] == [("alpha; first letter", None)]
        assert ids(one) == [["f1", "f1"]]
        assert (ids_of(one.context), ids_of(one.citations)) == (["f1", "f1"], ["f1", "f1"])
        with pytest.raises(ValueError, match=r"tools=\['file_search_call'\] says that one searches"):
            rm.read_traces([said])
        without = [said[0], {**call, "results": None}, said[2]]
        with pytest.raises(
            ValueError, match=r"span 'fs' \(file_search_call\) .* does not say which documents it found"
        ):
            rm.read_traces([without], tools="file_search_call")
        t = rm.read_traces([said, without], tools="file_search_call")
        assert [[call.error is None for call in one.calls] for one in t.values()] == [[True], [False]]
        assert t["2"].citations == ["f1"]
        assert t.notes[0].startswith("1 result not read, so the search failed: span 'fs'")


def searched(*calls: Any, answer: Any = "It is [1] and [2].") -> list[Any]:
    """Return a conversation in which a model asks once, for a tool, arguments and a result each."""
    asked = [
        {"id": f"c{n}", "function": {"name": tool, "arguments": json.dumps(given)}}
        for n, (tool, given, _) in enumerate(calls)
    ]
    found = [{"role": "tool", "tool_call_id": f"c{n}", "content": result} for n, (*_, result) in enumerate(calls)]
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": asked}, *found]
    return [*said, {"role": "assistant", "content": answer}]


A = {"query": "a"}
FOUND = [{"id": one, "text": TEXTS[one]} for one in ("d1", "d2")]
DOWN = '{"error": "timeout"}'


class TestBlocksOfText:
    @pytest.mark.parametrize(
        "block", [{"type": "text", "id": "lc_6134"}, {"type": "input_text"}, {"type": "output_text"}]
    )
    def test_hold_json_or_are_no_documents(self, block: Any) -> None:
        for text, expected in ((json.dumps(FOUND), ["d1", "d2"]), ("[]", [])):
            (one,) = rm.read_traces([searched(("search", A, [{**block, "text": text}]))], tools="search").values()
            assert (ids(one), ids_of(one.context)) == ([expected], expected)
        with pytest.raises(ValueError, match="does not say which documents it found"):
            rm.read_traces([searched(("search", A, [{**block, "text": "Error: timeout"}]))], tools="search")

    def test_may_hold_an_error(self) -> None:
        block = {"type": "text", "text": DOWN}
        (one,) = rm.read_traces([searched(("search", A, [block]))], tools="search").values()
        assert [call.error for call in one.calls] == ["timeout"]

    def test_of_one_search_result_are_read_together(self) -> None:
        parts = [{"type": "text", "text": text} for text in ("Alpha is first.", "It was an ox.")]
        result = [{"type": "search_result", "source": "d1", "title": "A", "content": parts}]
        (one,) = rm.read_traces([searched(("search", A, result))], tools="search").values()
        assert (ids(one), ids_of(one.context)) == ([["d1"]], ["d1"])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("kw", A, DOWN), ("vec", A, json.dumps(FOUND)), [("timeout", 1), (None, 1)]),
        (("kw", {**A, "year": 2023}, DOWN), ("kw", {**A, "year": 2024}, DOWN), [("timeout", 1), ("timeout", 1)]),
        (("kw", A, DOWN), ("kw", A, json.dumps(FOUND)), [(None, 2)]),
    ],
    ids=["another tool", "other arguments", "the same"],
)
def test_only_the_same_call_is_a_further_attempt(first: Any, second: Any, expected: Any) -> None:
    spans: list[Any] = [
        {"trace": "1", "span": str(n), "parent": None, "kind": "tool", "name": tool, "input": given, "output": result}
        for n, (tool, given, result) in enumerate((first, second))
    ]
    for source in ([searched(first, second)], spans):
        (one,) = rm.read_traces(
            source, tools=[name for name in ("kw", "vec") if name in (first[0], second[0])]
        ).values()
        assert [(call.error, call.attempts) for call in one.calls] == expected


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"success": False, "results": []}, "no reason was given"),
        ({"ok": False, "message": "down", "results": []}, "no reason was given"),
        ({"status": "error", "results": []}, "no reason was given"),
        ({"errors": ["down"], "results": []}, "['down']"),
        ({"success": True, "errors": [], "results": []}, None),
    ],
)
def test_an_outage_that_comes_with_an_empty_list_is_one(result: Any, error: str | None) -> None:
    (one,) = rm.read_traces([searched(("search", A, json.dumps(result)))], tools="search").values()
    assert [call.error for call in one.calls] == [error]


@pytest.mark.parametrize("answer", ["[^2]", "\u30102\u3011", "[ 2 ]", "[2]"])
def test_an_answer_is_the_text_that_it_is(answer: str) -> None:
    said = searched(("search", A, json.dumps(FOUND)), answer=answer)
    (one,) = rm.read_traces([said], tools="search", citations="numbered").values()
    assert one.citations == ["d2"]
    said = searched(("search", A, json.dumps(FOUND)), answer='{"answer": "So.", "sources": ["d2"]}')
    (one,) = rm.read_traces([said], tools="search", citations=lambda text: json.loads(text)["sources"]).values()
    assert one.citations == ["d2"]


@pytest.mark.parametrize("answer", [None, "", [{"type": "thinking", "thinking": "Hm."}]])
def test_a_model_that_said_nothing_did_not_answer(answer: Any) -> None:
    said = searched(("search", A, json.dumps(FOUND)), answer=answer)
    (one,) = rm.read_traces([said], tools="search", citations="numbered").values()
    assert (ids(one), one.context, one.citations) == ([["d1", "d2"]], None, None)


def test_tools_of_the_provider_end_the_part_of_a_message_that_asked_for_them() -> None:
    said: list[Any] = [{"type": "text", "text": "Let me look."}]
    for id_, asked in (("a", "x"), ("b", "y")):
        found = [{"type": "web_search_result", "url": f"https://{asked}.example", "title": asked}]
        said.append({"type": "server_tool_use", "id": id_, "name": "web_search", "input": {"query": asked}})
        said.append({"type": "web_search_tool_result", "tool_use_id": id_, "content": found})
    said.append({"type": "text", "text": "It is y.", "citations": [{"url": "https://y.example", "cited_text": "y"}]})
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "id": "m", "content": said}]
    (one,) = rm.read_traces([messages], tools="web_search").values()
    assert [(call.query, call.turn) for call in one.calls] == [("x", 1), ("y", 2)]
    assert one.citations == ["https://y.example"]


def test_what_a_coding_agent_has_summed_up_is_no_longer_read() -> None:
    lines = [{"type": one["role"], "message": one} for one in searched(("search", A, json.dumps(FOUND)))]
    summary = {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "So far: letters."}}
    for between, read in (([], ["d1", "d2"]), ([summary], [])):
        (one,) = rm.read_traces([*lines[:-1], *between, lines[-1]], tools="search").values()
        assert (ids(one), ids_of(one.context)) == ([["d1", "d2"]], read)


def test_chunks_of_a_message_are_to_be_added_first() -> None:
    chunks = [{"type": "AIMessageChunk", "id": "r", "content": text} for text in ("It is [1]", " and [2].")]
    said = searched(("search", A, json.dumps(FOUND)))[:-1]
    (one,) = rm.read_traces([[*said, chunks[0]]], tools="search", citations="numbered").values()
    assert one.citations == ["d1"]
    with pytest.raises(ValueError, match="message 5 of conversation '1' is one of several chunks of a message; add"):
        rm.read_traces([[*said, *chunks]], tools="search")


@pytest.mark.parametrize(
    "result",
    [
        {"hits": {"hits": [{"_id": "d1", "_score": 1.5, "_source": {"text": TEXTS["d1"], "source": "letters.md"}}]}},
        {"matches": [{"id": "d1", "score": 0.5, "metadata": {"text": TEXTS["d1"], "source": "letters.md"}}]},
        {"results": [{"id": "d1", "payload": {"content": TEXTS["d1"], "source": "letters.md"}}]},
        [{"id": "d1", "snippet": TEXTS["d1"], "source": "letters.md"}],
    ],
)
def test_the_text_is_found_where_stores_keep_it(result: Any) -> None:
    (one,) = rm.read_traces([searched(("search", A, json.dumps(result)))], tools="search").values()
    found: Any = one.calls[0].ranking
    (item,) = found
    assert (item.id, item.text, item.source) == ("d1", TEXTS["d1"], "letters.md")
    assert one.context == [item]


def test_the_question_may_stand_under_any_key_beside_the_messages() -> None:
    held = [{"question_id": f"q{n}", "messages": searched(("search", A, json.dumps(FOUND)))} for n in (1, 2)]
    assert list(rm.read_traces(held, tools="search", query="question_id")) == ["q1", "q2"]
    with pytest.raises(ValueError, match=r"none has 'qid', which query= names; .* has 'question_id', 'messages'"):
        rm.read_traces(held, tools="search", query="qid")


def test_a_conversation_in_which_no_tool_ran_has_no_search_and_a_wrong_name_is_refused() -> None:
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "Hello."}]
    (one,) = rm.read_traces([said], tools="search").values()
    assert (one.calls, one.context) == ([], [])
    with pytest.raises(TypeError, match="tools= must name the tools that search, as in 'search', got 5"):
        rm.read_traces([said], tools=5)  # type: ignore[arg-type]  # the point
    hosted = {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "a"}, "status": "completed"}
    with pytest.raises(
        ValueError, match=r"'search'; no tool ran, .*; 1 span with a tool .* \('web_search_call'\) left out"
    ):
        rm.read_traces([[said[0], hosted, said[1]]], tools="search")


def test_a_parser_that_knows_nothing_is_said_to() -> None:
    with pytest.raises(ValueError, match="documents= returned None for it; this one is 'x'"):
        rm.read_traces([searched(("search", A, "x"))], tools="search", documents=lambda _: None)


@pytest.mark.parametrize("wrap", [lambda held: held, lambda held: [*held.values()]])
def test_a_conversation_that_never_began_is_one_without_searches(wrap: Any) -> None:
    t = rm.read_traces(wrap({"q1": [], "q2": searched(("search", A, json.dumps(FOUND)))[:-1]}), tools="search")
    assert [(len(one.calls), one.context) for one in t.values()] == [(0, None), (1, None)]
