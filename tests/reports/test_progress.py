"""Long work is announced, and shows how far it is."""

import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.reports import progress
from retrieval_metrics.reports.progress import track_steps


def test_work_of_more_than_a_minute_is_announced_once_with_an_estimate() -> None:
    times = iter([99.0, 100.0, 106.0])  # 6 s for the first hundred of 10,000
    with track_steps(
        "testing", 10_000, "testing it", "less is less", show_progress=False, clock=lambda: next(times)
    ) as advance:
        advance(0)
        with pytest.warns(rm.RetrievalWarning, match="testing it takes about 10 more minutes; less is less; show_prog"):
            advance(100)
        for done in (200, 10_000):
            advance(done)  # said once, before the rest


@pytest.mark.parametrize("times", [[0.0, 0.0, 4.0, 6.0], [0.0, 0.0, 30.0, 59.0]])
def test_short_work_says_nothing(times: list[float]) -> None:
    remaining = iter(times)
    with (
        warnings.catch_warnings(),
        track_steps("", 2, "", "", show_progress=False, clock=lambda: next(remaining)) as advance,
    ):
        warnings.simplefilter("error")
        for done in (0, 1, 2):
            advance(done)


QRELS = {f"q{index}": {"d": 1 + index % 3, "e": 1 + index % 2} for index in range(40)}


def run_with(step: int) -> dict[str, list[str]]:
    """Return rankings that begin with up to six other documents."""
    run = {}
    for index, query in enumerate(QRELS):
        n_others = (index * step) % 7
        run[query] = [*(f"x{number}" for number in range(n_others)), "d", "e"]
    return run


RUNS = {name: run_with(step) for step, name in enumerate("abc", start=1)}
QUESTIONS = rm.EvaluationSet({query: f"what is said in the passage {query}?" for query in QRELS}, QRELS)
COMPARED = rm.compare(QRELS, RUNS, "ndcg@10")


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            lambda _: rm.compare(QRELS, RUNS, "ndcg@10", resamples=50_000),
            "testing 3 differences on 40 .* fewer systems",
        ),
        (lambda _: rm.tune(RUNS, QRELS, "ndcg@10", default="a"), "trying 3 settings .* fewer settings"),
        (lambda _: QUESTIONS.lint(), "checking 40 queries .* a sample"),
        (lambda path: COMPARED.report(path / "r.html"), "explaining 40 queries of 3 systems .* fewer systems"),
        (lambda path: COMPARED.evaluations["a"].report(path / "r.html"), "explaining 40 queries .* fewer queries"),
    ],
)
def test_every_long_verb_is_announced(
    work: Callable[[Path], Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = count(0, 3600)
    monkeypatch.setitem(track_steps.__wrapped__.__kwdefaults__, "clock", lambda: float(next(hours)))  # type: ignore[attr-defined]
    with pytest.warns(rm.RetrievalWarning, match=message):
        work(tmp_path)


@pytest.mark.parametrize(
    ("work", "label"),
    [
        (lambda _: rm.compare(QRELS, RUNS, "ndcg@10", show_progress=True), "testing"),
        (lambda _: rm.tune(RUNS, QRELS, "ndcg@10", default="a", show_progress=True), "trying settings"),
        (lambda _: QUESTIONS.lint(show_progress=True), "linting"),
        (lambda path: COMPARED.report(path / "r.html", show_progress=True), "explaining"),
        (lambda path: COMPARED.evaluations["a"].report(path / "r.html", show_progress=True), "explaining"),
    ],
)
def test_every_long_verb_shows_a_bar(
    work: Callable[[Path], Any], label: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work(tmp_path)
    assert label in capfd.readouterr().err


def test_a_bar_changes_no_number(capfd: pytest.CaptureFixture[str]) -> None:
    shown = rm.compare(QRELS, RUNS, "ndcg@10", show_progress=True)
    assert [difference.p_corrected for difference in shown.differences] == [
        difference.p_corrected for difference in COMPARED.differences
    ]
    capfd.readouterr()
    rm.compare(QRELS, RUNS, "ndcg@10")
    assert not capfd.readouterr().err


def test_what_is_long_is_a_minute() -> None:
    assert progress.ANNOUNCED_SECONDS == 60
