"""A long test is announced, and shows how far it is."""

import warnings

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparing.watching import watched


def test_a_test_of_more_than_a_minute_is_announced_with_an_estimate() -> None:
    times = iter([100.0, 103.0])  # 3 s for the first hundred of 10,000
    with watched(66, 40, 10_000, show_progress=False, clock=lambda: next(times)) as advance:
        advance(0)
        with pytest.warns(rm.RetrievalWarning, match="66 differences on 40 queries .* about 5 minutes more"):
            advance(100)
        for done in (200, 10_000):
            advance(done)  # said once, before the rest


def test_a_short_test_says_nothing() -> None:
    times = iter([0.0, 0.5])
    with warnings.catch_warnings(), watched(6, 40, 10_000, show_progress=False, clock=lambda: next(times)) as advance:
        warnings.simplefilter("error")
        advance(0)
        advance(100)


def test_compare_and_tune_show_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    qrels = {f"q{at}": {"d": 1 + at % 3, "e": 1 + at % 2} for at in range(40)}
    runs = {
        name: {query: [f"x{each}" for each in range((at * by) % 7)] + ["d", "e"] for at, query in enumerate(qrels)}
        for by, name in enumerate("abc", start=1)
    }
    shown = rm.compare(qrels, runs, "ndcg@10", show_progress=True)
    assert "testing" in capfd.readouterr().err
    assert [each.p_corrected for each in shown.differences] == [
        each.p_corrected for each in rm.compare(qrels, runs, "ndcg@10").differences
    ]
    assert not capfd.readouterr().err
    rm.tune(runs, qrels, "ndcg@10", default="a", show_progress=True)
    assert "testing" in capfd.readouterr().err
