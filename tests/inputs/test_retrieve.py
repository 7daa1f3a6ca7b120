"""The loop that runs a retriever: sync and async, concurrent, with failures kept."""

import asyncio
import contextvars
import sys
import threading
from collections.abc import Awaitable
from typing import Any

import pytest

import retrieval_metrics as rm

QUERIES = {f"q{number}": f"text {number}" for number in range(20)}


def answer(text: str) -> list[str]:
    return [text]


async def answer_later(text: str) -> list[str]:
    await asyncio.sleep(0)
    return [text]


def start_answering(text: str) -> Awaitable[list[str]]:
    return answer_later(text)


class AsyncRetriever:
    async def __call__(self, text: str) -> list[str]:
        return [text]


@pytest.mark.parametrize("retriever", [answer, answer_later, AsyncRetriever(), start_answering])
def test_sync_and_async_retrievers_give_the_same_run(retriever: Any) -> None:
    expected = {query: [text] for query, text in QUERIES.items()}
    assert rm.retrieve(retriever, QUERIES) == expected
    assert asyncio.run(rm.aretrieve(retriever, QUERIES)) == expected
    assert list(rm.retrieve(retriever, QUERIES, workers=3)) == list(QUERIES)


def test_it_works_inside_a_running_loop() -> None:
    async def notebook() -> rm.RetrievedRun:
        return rm.retrieve(answer_later, QUERIES)

    assert len(asyncio.run(notebook())) == 20


@pytest.mark.parametrize("workers", [1, 4])
def test_as_many_queries_are_under_way_as_there_are_workers(workers: int) -> None:
    together = threading.Barrier(workers, timeout=10)  # breaks, and fails the query, if fewer come together

    def retriever(text: str) -> list[str]:
        if text != "text 0":  # which is asked alone
            together.wait()
        return [text]

    run = rm.retrieve(retriever, {f"q{number}": f"text {number}" for number in range(21)}, workers=workers)
    assert not run.errors


def test_no_more_are_under_way_than_there_are_workers() -> None:
    now, most = 0, 0

    async def retriever(text: str) -> list[str]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return [text]

    rm.retrieve(retriever, QUERIES, workers=5)
    assert most == 5


def fails_on_3(text: str) -> list[str]:
    if text == "text 3":
        raise ConnectionError("no index")
    return [text]


def test_a_failing_query_is_recorded_scores_zero_and_is_counted() -> None:
    run = rm.retrieve(fails_on_3, QUERIES)
    assert run["q3"] == []
    assert isinstance(run.errors["q3"], ConnectionError)
    assert repr(run) == "<RetrievedRun: 20 queries, 1 failed>"
    qrels = {query: [text] for query, text in QUERIES.items()}
    with pytest.warns(
        rm.RetrievalWarning, match="the retriever failed for 1 of them, for example 'q3': ConnectionError"
    ):
        result = rm.evaluate(qrels, run, "hit_rate")
    assert result.means["hit_rate"] == 19 / 20
    assert result.counts["failed"] == 1
    assert "1 for which the retriever failed, scored 0" in str(result)


def test_a_failure_can_be_raised_instead() -> None:
    with pytest.raises(ConnectionError, match="no index") as caught:
        rm.retrieve(fails_on_3, QUERIES, raise_on_error=True)
    assert caught.value.__notes__ == ["while retrieving for query 'q3'"]


def test_the_context_of_the_caller_reaches_the_threads() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    tenant.set("ours")
    run = rm.retrieve(lambda _: [tenant.get()], {"q": "?"})
    assert run["q"] == ["ours"]


def test_progress_is_shown_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    rm.retrieve(answer, QUERIES)
    assert capsys.readouterr().err == ""
    rm.retrieve(answer, QUERIES, show_progress=True)
    assert "20/20" in capsys.readouterr().err


def test_without_rich_the_error_holds_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[cli\]'"):
        rm.retrieve(answer, QUERIES, show_progress=True)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((["d1"], QUERIES), {}, TypeError, "a retriever must be callable with the text of a query, or .* got list"),
        ((answer, ["what?"]), {}, TypeError, "questions must map query ids to texts, or be an EvaluationSet, got list"),
        ((answer, QUERIES), {"workers": 0}, ValueError, "workers must be a positive integer, got 0"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.retrieve(*arguments, **options)
