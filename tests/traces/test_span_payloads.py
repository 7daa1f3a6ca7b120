"""Documents, failures and texts are found in the results of tools, under whatever names and in whatever blocks."""

import json
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_forms import D1, FOUND, SEARCH_ARGUMENTS, TIMEOUT, call_ids, chat, converse_with_tools
from agent_scenarios import TEXTS, ids_of
from trace_spans import ids, make_documents, read, search, span


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
        messages = [*chat("q", [("1", "a")], ("1", json.dumps(result))), {"role": "assistant", "content": "So."}]
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        item: Any
        (item,) = trajectory.calls[0].ranking
        assert (item.id, item.text, item.source) == ("d1", TEXTS["d1"], "letters.md")
        assert trajectory.context == [item]

    def test_two_lists_that_differ_are_not_read(self) -> None:
        lists = {"documents": D1, "results": [{"id": "d2", "text": TEXTS["d2"]}]}
        with pytest.raises(ValueError, match="it holds 2 lists of documents that differ"):
            rm.read_traces(chat("q", [("1", "a")], ("1", json.dumps(lists))), tools="search")

    @pytest.mark.parametrize(
        "mark", [{"is_error": "true"}, {"is_error": True}, {"status": "ERROR"}, {"status": "Failed"}]
    )
    def test_a_failure_is_one_in_any_case_of_letters(self, mark: Any) -> None:
        used = {"type": "tool_use", "id": "c", "name": "search", "input": {"query": "a"}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": "index offline", **mark}
        messages = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
        (trajectory,) = rm.read_traces(messages, tools="search").values()
        assert [call.error for call in trajectory.calls] == ["index offline"]


class TestBlocksOfText:
    @pytest.mark.parametrize(
        "block", [{"type": "text", "id": "lc_6134"}, {"type": "input_text"}, {"type": "output_text"}]
    )
    def test_hold_json_or_are_no_documents(self, block: Any) -> None:
        for text, expected in ((json.dumps(FOUND), ["d1", "d2"]), ("[]", [])):
            (trajectory,) = rm.read_traces(
                [converse_with_tools(("search", SEARCH_ARGUMENTS, [{**block, "text": text}]))], tools="search"
            ).values()
            assert (call_ids(trajectory), ids_of(trajectory.context)) == ([expected], expected)
        with pytest.raises(ValueError, match="names no documents"):
            rm.read_traces(
                [converse_with_tools(("search", SEARCH_ARGUMENTS, [{**block, "text": "Error: timeout"}]))],
                tools="search",
            )

    def test_may_hold_an_error(self) -> None:
        block = {"type": "text", "text": TIMEOUT}
        (trajectory,) = rm.read_traces(
            [converse_with_tools(("search", SEARCH_ARGUMENTS, [block]))], tools="search"
        ).values()
        assert [call.error for call in trajectory.calls] == ["timeout"]

    def test_of_one_search_result_are_read_together(self) -> None:
        parts = [{"type": "text", "text": text} for text in ("Alpha is first.", "It was an ox.")]
        result = [{"type": "search_result", "source": "d1", "title": "A", "content": parts}]
        (trajectory,) = rm.read_traces(
            [converse_with_tools(("search", SEARCH_ARGUMENTS, result))], tools="search"
        ).values()
        assert (call_ids(trajectory), ids_of(trajectory.context)) == ([["d1"]], ["d1"])


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
    (trajectory,) = rm.read_traces(
        [converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(result)))], tools="search"
    ).values()
    assert [call.error for call in trajectory.calls] == [error]


@pytest.mark.parametrize("answer", ["[^2]", "\u30102\u3011", "[ 2 ]", "[2]"])
def test_an_answer_is_the_text_that_it_is(answer: str) -> None:
    messages = converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(FOUND)), answer=answer)
    (trajectory,) = rm.read_traces([messages], tools="search", citations="numbered").values()
    assert trajectory.citations == ["d2"]
    messages = converse_with_tools(
        ("search", SEARCH_ARGUMENTS, json.dumps(FOUND)), answer='{"answer": "So.", "sources": ["d2"]}'
    )
    (trajectory,) = rm.read_traces(
        [messages], tools="search", citations=lambda text: json.loads(text)["sources"]
    ).values()
    assert trajectory.citations == ["d2"]


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
    (trajectory,) = rm.read_traces(
        [converse_with_tools(("search", SEARCH_ARGUMENTS, json.dumps(result)))], tools="search"
    ).values()
    ranking: Any = trajectory.calls[0].ranking
    (item,) = ranking
    assert (item.id, item.text, item.source) == ("d1", TEXTS["d1"], "letters.md")
    assert trajectory.context == [item]


def test_a_block_of_a_message_is_no_document() -> None:
    block = {"type": "text", "text": "I found nothing."}
    for text_block in (block, {"block_type": "text", "text": "I found nothing."}):
        with pytest.raises(ValueError, match="names no documents"):
            read(span("1", "tool", output=[text_block]), tools="tool")
    (call,) = read(span("1", "tool", output=[{**block, "metadata": {"source": "s"}}]), tools="tool").calls
    assert len(call.ranking) == 1


@pytest.mark.parametrize(
    "output",
    [
        {"documents": [], "rows": make_documents("x")},
        {"data": {"documents": []}, "rows": {"page": make_documents("x")}},
    ],
)
def test_an_empty_list_beside_a_filled_one_of_an_unknown_name_is_refused(output: Any) -> None:
    with pytest.raises(ValueError, match="a filled one under a name that is not known; documents= takes"):
        read(search("1", 1, "a", output))
    (call,) = read(search("1", 1, "a", output), documents=lambda payload: [{"id": "x"}] if payload else None).calls
    assert ids(call) == ["x"]


def test_an_empty_list_beside_a_filled_one_says_nothing() -> None:
    for output in (
        {"documents": [], "nodes": make_documents("x")},
        {"output": {"documents": make_documents("x")}, "metadata": {"documents": []}},
        {"documents": make_documents("x"), "nodes": make_documents("x")},
        [{"documents": []}, {"documents": make_documents("x")}],
    ):
        (call,) = read(search("1", 1, "a", output)).calls
        assert ids(call) == ["x"]
    (call,) = read(search("1", 1, "a", {"documents": [], "nodes": []})).calls
    assert ids(call) == []


@pytest.mark.parametrize(
    "output",
    [
        {"documents": make_documents("x"), "nodes": make_documents("y")},
        [{"documents": make_documents("x", "y")}, {"documents": make_documents("y")}],
    ],
)
def test_lists_of_documents_that_differ_are_refused(output: Any) -> None:
    with pytest.raises(ValueError, match=r"span '1' .* it holds 2 lists of documents that differ; documents= takes"):
        read(search("1", 1, "a", output))
    (call,) = read(search("1", 1, "a", output), documents=lambda _: ["x"]).calls
    assert call.ranking == ["x"]
