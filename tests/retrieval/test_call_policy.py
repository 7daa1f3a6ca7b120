"""The calls of a function: which failures are repeated, and how long a rate limit is waited for."""

import asyncio
import warnings
from collections import Counter
from types import SimpleNamespace

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval import call_pacer
from retrieval_metrics.retrieval.call_pacer import MAX_WAIT
from retrieval_metrics.retrieval.call_policy import FunctionCaller
from retrieval_metrics.retrieval.event_loop import run_until_complete


class RateLimitError(Exception):
    def __init__(self, wait: float | None = None) -> None:
        super().__init__("no")
        self.status_code = 429
        if wait is not None:
            self.response = SimpleNamespace(headers={"Retry-After": str(wait)})


class Refusing:
    """A retriever that refuses one query for ever."""

    def __init__(self, wait: float | None = None) -> None:
        self.wait = wait
        self.calls: Counter[str] = Counter()

    def __call__(self, text: str) -> list[str]:
        self.calls[text] += 1
        if text == "gift":
            raise RateLimitError(self.wait)
        return ["d1"]


QUERIES = {"1": "money", "2": "gift", "3": "shop", "4": "parcel"}


def test_a_wait_of_hours_is_an_error() -> None:
    refusing = Refusing(MAX_WAIT + 1)
    caller = FunctionCaller(refusing, name="model", timeout=None, retries=5, is_patient=True)
    with pytest.raises(RateLimitError):
        run_until_complete(caller.call("gift", after=lambda _: None))
    assert refusing.calls == {"gift": 1}


def test_without_retries_nothing_is_waited_for() -> None:
    refusing = Refusing(100.0)
    run = rm.retrieve(refusing, QUERIES)
    assert refusing.calls == dict.fromkeys(QUERIES.values(), 1)
    assert list(run.errors) == ["2"]
    assert "raise retries=0" in run.errors["2"].__notes__[0]


def test_retries_bound_the_wait_and_a_warning_announces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_pacer, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(call_pacer, "LONG_LATER_PAUSE", 0.0)
    refusing = Refusing()
    with pytest.warns(rm.RetrievalWarning, match="rate limit") as record:
        run = rm.retrieve(refusing, {"2": "gift", "1": "money"}, retries=2)
    assert refusing.calls == {"gift": 3, "money": 1}
    assert list(run.errors) == ["2"]
    assert len(record) == 1


def test_no_pause_is_longer_than_the_timeout() -> None:
    refusing = Refusing(60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing waits, so nothing is announced
        run = rm.retrieve(refusing, QUERIES, retries=3, timeout=5.0)
    assert refusing.calls["gift"] == 1
    assert "longer than timeout=5" in run.errors["2"].__notes__[0]


def test_the_other_queries_go_on_while_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_pacer, "FIRST_PAUSE", 0.02)
    order: list[str] = []

    async def search(text: str) -> list[str]:
        order.append(text)
        await asyncio.sleep(0)
        if text == "gift":
            raise RateLimitError
        return ["d1"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        run = rm.retrieve(search, QUERIES, retries=3, workers=2)
    assert list(run.errors) == ["2"]
    assert order.count("gift") == 4
    assert order.index("parcel") < len(order) - 1  # before the last attempt of the refused query
