"""The loop that runs a retriever: sync and async, concurrent, with failures kept."""

import asyncio
import contextvars
import pickle
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Awaitable
from types import SimpleNamespace
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval import call_policy as calling

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
    now = 0
    largest = 0

    async def retriever(text: str) -> list[str]:
        nonlocal now, largest
        now += 1
        largest = max(largest, now)
        await asyncio.sleep(0.001)
        now -= 1
        return [text]

    rm.retrieve(retriever, QUERIES, workers=5)
    assert largest == 5


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
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 1 of .*'q3': ConnectionError"):
        result = rm.evaluate(qrels, run, "hit_rate")
    assert result.means["hit_rate"] == 19 / 20
    assert result.counts["failed"] == 1
    assert "1 query on which the retriever failed, scored 0" in str(result)


def test_a_failure_can_be_raised_instead() -> None:
    with pytest.raises(ConnectionError, match="no index") as caught:
        rm.retrieve(fails_on_3, QUERIES, raise_on_error=True)
    assert caught.value.__notes__ == [
        "while retrieving for query 'q3'; raise_on_error=False counts a query that fails and scores it 0"
    ]


def test_the_context_of_the_caller_reaches_the_threads() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    tenant.set("ours")
    run = rm.retrieve(lambda _: [tenant.get()], {"q": "?"})
    assert run["q"] == ["ours"]


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "PAUSE", 0.0)


class Flaky:
    """Fails as often as it is told for each text, and then answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.questions = Counter[str]()

    def __call__(self, text: str) -> list[str]:
        self.questions[text] += 1
        if self.questions[text] <= self.failures:
            raise ConnectionError(f"failure {self.questions[text]}")
        return [text]

    async def later(self, text: str) -> list[str]:
        await asyncio.sleep(0)
        return self(text)


@pytest.mark.usefixtures("no_pause")
def test_a_query_that_fails_is_asked_again_as_often_as_wanted() -> None:
    for how in ("__call__", "later"):
        flaky = Flaky(2)
        assert rm.retrieve(getattr(flaky, how), QUERIES, retries=2).errors == {}
        assert set(flaky.questions.values()) == {3}
        flaky = Flaky(2)
        flaky.questions["text 0"] = 2  # answers at once
        run = rm.retrieve(getattr(flaky, how), QUERIES, retries=1)
        assert {str(error) for error in run.errors.values()} == {"failure 2"}
        assert len(run.errors) == 19


def test_the_pauses_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(calling, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    assert rm.retrieve(Flaky(8), {"q": "text"}, retries=8).errors == {}
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_where_the_first_queries_fail_alike_the_others_are_not_asked() -> None:
    queries: list[str] = []

    def retriever(text: str) -> list[str]:
        queries.append(text)
        raise PermissionError(f"401 for {text!r}, request {uuid.uuid4()}")

    with pytest.raises(PermissionError, match="401 for 'text 0'") as raised:
        rm.retrieve(retriever, QUERIES)
    assert queries == ["text 0", "text 1", "text 2"]
    assert raised.value.__notes__ == [
        "the first 3 queries failed with the same error, so the others were not run; this is the failure of query 'q0'"
    ]


def test_where_the_first_queries_fail_in_different_ways_the_others_are_asked() -> None:
    failures = {"text 0": OSError("busy"), "text 1": ValueError("odd"), "text 2": OSError("busy")}

    def retriever(text: str) -> list[str]:
        if text in failures:
            raise failures[text]
        return [text]

    run = rm.retrieve(retriever, QUERIES)
    assert run.errors == {"q0": failures["text 0"], "q1": failures["text 1"], "q2": failures["text 2"]}


def test_a_service_that_is_slow_at_its_start_only_loses_the_queries_that_waited() -> None:
    queries: list[str] = []

    async def retriever(text: str) -> list[str]:
        queries.append(text)
        if len(queries) <= 3:
            raise TimeoutError("still loading")
        return [text]

    assert len(rm.retrieve(retriever, QUERIES).errors) == 3


def test_where_every_query_fails_the_first_failure_is_raised() -> None:
    def retriever(text: str) -> list[str]:
        raise [OSError, ValueError, KeyError][len(text) % 3](text)

    texts = {"q1": "a", "q2": "bb", "q3": "ccc"}
    with pytest.raises(ValueError, match="a") as raised:
        rm.retrieve(retriever, texts)
    assert raised.value.__notes__ == [
        "all 3 queries failed, so there is nothing to evaluate; this is the failure of query 'q1'"
    ]


def test_from_failures_alone_nothing_is_evaluated() -> None:
    failed = rm.RetrievedRun({"q1": [], "q2": []}, {"q1": OSError("down"), "q2": OSError("down")})
    truth = {"q1": ["d7"], "q2": ["d1"]}
    message = "nothing to evaluate: the retriever failed for every query, 2 of 2; the first, 'q1': OSError: down"
    with pytest.raises(ValueError, match=message):
        rm.evaluate(truth, failed, "mrr")
    with pytest.raises(ValueError, match=message) as raised:
        rm.compare(truth, {"sound": {"q1": ["d7"], "q2": ["d1"]}, "broken": failed}, "mrr")
    assert raised.value.__notes__ == ["while evaluating the system 'broken'"]
    with pytest.warns(rm.RetrievalWarning, match="failed on 1 of"):
        result = rm.evaluate(truth, rm.RetrievedRun({"q1": [], "q2": ["d1"]}, {"q1": OSError("down")}), "mrr")
    assert (result.means["mrr"], result.counts["failed"]) == (0.5, 1)


def test_a_query_that_takes_too_long_fails_alone_and_is_cancelled() -> None:
    cancelled: list[str] = []

    async def retriever(text: str) -> list[str]:
        try:
            await asyncio.sleep(600 if text in {"text 0", "text 3"} else 0)
        except asyncio.CancelledError:
            cancelled.append(text)
            raise
        return [text]

    run = rm.retrieve(retriever, QUERIES, timeout=0.5)
    assert {query: f"{type(error).__name__}: {error}" for query, error in run.errors.items()} == {
        "q0": "TimeoutError: no answer within 0.5 s",
        "q3": "TimeoutError: no answer within 0.5 s",
    }
    assert cancelled == ["text 0", "text 3"]
    assert run.seconds["q3"] > 0.4


def test_a_thread_that_takes_too_long_is_left_behind() -> None:
    enough = threading.Event()
    run = rm.retrieve(
        lambda text: [text] if text != "text 3" or enough.wait(600) else [], QUERIES, workers=2, timeout=0.5
    )
    enough.set()
    assert list(run.errors) == ["q3"]
    assert run["q4"] == ["text 4"]


def test_a_retriever_that_cancels_itself_fails_alone() -> None:
    async def retriever(text: str) -> list[str]:
        if text == "text 3":
            raise asyncio.CancelledError
        return [text]

    run = rm.retrieve(retriever, QUERIES, timeout=60)
    assert {query: str(error) for query, error in run.errors.items()} == {
        "q3": "the retriever cancelled the call itself"
    }


def test_what_ends_the_program_is_no_failure() -> None:
    def retriever(text: str) -> list[str]:
        if text == "text 3":
            raise SystemExit(3)
        return [text]

    with pytest.raises(SystemExit, match="3"):
        rm.retrieve(retriever, QUERIES)
    assert rm.retrieve(answer_later, QUERIES)["q3"] == ["text 3"]


def test_a_timeout_of_the_retriever_itself_is_its_own() -> None:
    async def retriever(_: str) -> list[str]:
        raise TimeoutError("the index is busy")

    with pytest.raises(TimeoutError, match="the index is busy"):
        rm.retrieve(retriever, {"q": "?"}, timeout=60)


def test_a_cancelled_retrieval_stops_at_once_although_a_thread_hangs() -> None:
    hanging = threading.Event()
    enough = threading.Event()
    queries: list[str] = []

    def retriever(text: str) -> list[str]:
        queries.append(text)
        if len(queries) > 1:
            hanging.set()
            enough.wait(600)
        return [text]

    async def work() -> None:
        task = asyncio.create_task(rm.aretrieve(retriever, QUERIES, workers=1))
        await asyncio.to_thread(hanging.wait, 600)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert not enough.is_set()
    enough.set()
    assert queries == ["text 0", "text 1"]


class RefusedError(Exception):
    """As the errors of many clients: it cannot be made from its message alone, so it cannot be unpickled."""

    def __init__(self, message: str, *, body: object) -> None:
        super().__init__(message)
        self.body = body


def test_a_run_survives_pickling_with_errors_and_seconds() -> None:
    run = rm.RetrievedRun(
        {"q1": ["d1"], "q2": [], "q3": []},
        {"q2": ConnectionError("no index"), "q3": RefusedError("no quota", body=threading.Lock())},
        {"q1": 0.5, "q2": 1.5, "q3": 0.1},
    )
    again = pickle.loads(pickle.dumps(run))
    assert again == run
    assert again.seconds == run.seconds
    assert [repr(error) for error in again.errors.values()] == [
        "ConnectionError('no index')",
        "RuntimeError('RefusedError: no quota')",
    ]
    assert repr(run.errors["q3"]) == "RefusedError('no quota')"


def test_seconds_are_kept_for_every_query_in_its_order() -> None:
    run = rm.retrieve(answer, QUERIES)
    assert list(run.seconds) == list(QUERIES)
    assert min(run.seconds.values()) > 0
    assert rm.evaluate({"q1": ["text 1"]}, run, "mrr").seconds == run.seconds


def test_progress_is_shown_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    rm.retrieve(answer, QUERIES)
    assert capsys.readouterr().err == ""
    rm.retrieve(answer, QUERIES, show_progress=True)
    assert "20/20" in capsys.readouterr().err


def test_without_rich_no_bar_is_drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    assert len(rm.retrieve(answer, QUERIES, show_progress=True)) == 20
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((["d1"], QUERIES), {}, TypeError, "a retriever must be a function of the text of a query, or .* got list"),
        ((answer, rm.Qrels({"q": ["d"]})), {}, TypeError, r"pass EvaluationSet\(texts, qrels\), where texts has"),
        ((answer, ["what?"]), {}, TypeError, "questions must map query IDs to texts, or be an EvaluationSet, got list"),
        ((answer, [("what?", ["d1"])]), {}, TypeError, r"EvaluationSet.from_dataset\(...\) reads pairs and rows"),
        ((answer, {"q1": ["d1"]}), {}, TypeError, r"the text of query 'q1' must be a str, got \['d1'\]"),
        ((answer, QUERIES), {"timeout": 0}, ValueError, "timeout must be positive, got 0"),
        ((answer, QUERIES), {"retries": -1}, ValueError, "retries must not be negative, got -1"),
        ((answer, QUERIES), {"workers": 0}, ValueError, "workers must be a positive integer, got 0"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.retrieve(*arguments, **options)
