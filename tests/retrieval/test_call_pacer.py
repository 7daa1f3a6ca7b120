"""The pace of calls to a service that refuses some."""

import asyncio
import warnings
from collections.abc import Callable
from types import SimpleNamespace

import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval import call_pacer
from retrieval_metrics.retrieval.call_pacer import FIRST_PAUSE, MARGIN, CallPacer
from retrieval_metrics.retrieval.event_loop import run_until_complete


@pytest.mark.parametrize(
    ("header", "waits"),
    [("", [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]), (": retry after 20 seconds", [20 + MARGIN] * 3)],
)
def test_a_service_that_refuses_again_is_left_alone_for_longer_unless_it_says_how_long(
    monkeypatch: pytest.MonkeyPatch, header: str, waits: list[float]
) -> None:
    now = [100.0]
    waited = []
    announced = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(call_pacer, "monotonic", lambda: now[0])
    monkeypatch.setattr(call_pacer, "asyncio", SimpleNamespace(sleep=wait))
    pace = CallPacer()
    for _ in range(4):
        run_until_complete(pace.start())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert pace.note_refusal(RuntimeError(f"429 Too Many Requests{header}"))
        announced.append(len(caught))
        pace.end()
    assert waited == pytest.approx(waits)
    assert announced == ([0, 1, 0, 0] if header == "" else [1, 0, 0, 0])  # once, unless the first pause is short


def test_after_a_success_the_pauses_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    waited = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(call_pacer, "monotonic", lambda: now[0])
    monkeypatch.setattr(call_pacer, "asyncio", SimpleNamespace(sleep=wait))
    monkeypatch.setattr(call_pacer, "warn", lambda *_, **__: None)
    pacer = CallPacer()
    for is_refused in (True, True, True, False, True, False):
        run_until_complete(pacer.start())
        if is_refused:
            assert pacer.note_refusal(RuntimeError("429 Too Many Requests"))
        else:
            pacer.note_success()
        pacer.end()
    # After the success the calls also begin at intervals, which are no longer than the last pause.
    assert waited[:3] == pytest.approx([FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE])
    assert waited[-1] == pytest.approx(FIRST_PAUSE)


class RateLimitError(Exception):
    pass


def ask_in_a_loop(search: Callable[[str], list[str]]) -> None:
    async def run() -> None:
        await rm.aretrieve(search, {"q": "a question"}, retries=2)

    asyncio.run(run())


def ask(search: Callable[[str], list[str]]) -> None:
    rm.retrieve(search, {"q": "a question"}, retries=2)


@pytest.mark.parametrize("run", [ask, ask_in_a_loop])
def test_the_warning_names_the_line_that_asks(
    monkeypatch: pytest.MonkeyPatch, run: Callable[[Callable[[str], list[str]]], None]
) -> None:
    monkeypatch.setattr(call_pacer, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(call_pacer, "LONG_PAUSE", 0.0)
    refusals = [RateLimitError("slow down")]

    def search(_: str) -> list[str]:
        if refusals:
            raise refusals.pop()
        return ["d1"]

    with pytest.warns(rm.RetrievalWarning, match="the retriever refuses calls") as caught:
        run(search)
    assert caught[0].filename == __file__
