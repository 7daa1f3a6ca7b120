"""What a budget leaves no room for is told apart from what was not retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import retrieval_metrics as rm

if TYPE_CHECKING:
    from pathlib import Path


A, B = (rm.Retrieved(name, name * 500, "d", start, tokens=120) for name, start in (("a", 0), ("b", 500)))
SPAN = {"q": [rm.Span("d", 600, 700)]}


def became(evaluation: rm.Evaluation, metric: str | None = None) -> list[str]:
    return [finding.detail for finding in evaluation.explain("q", metric).findings]


@pytest.mark.parametrize(
    ("metric", "detail"),
    [
        ("recall@400chars", "does not fit into the first 400 characters: it ends at 1,000"),
        ("recall@999chars", "does not fit into the first 999 characters: it ends at 1,000"),
        ("recall@1000chars", "found"),
        ("ndcg@239tokens", "does not fit into the first 239 tokens: it ends at 240"),
        ("ndcg@240tokens", "found"),
    ],
)
def test_what_ends_beyond_a_budget_is_not_found(metric: str, detail: str) -> None:
    evaluation = rm.evaluate(SPAN, {"q": [A, B]}, metric)
    assert became(evaluation) == became(evaluation, metric) == [detail]
    assert evaluation.means[metric] > 0 or detail != "found"
    lowest = evaluation.worst(metric)
    assert lowest.failures == ({} if detail == "found" else {"over_budget": 1})


def test_of_several_cut_offs_the_one_that_keeps_most_counts() -> None:
    for metrics, detail in (
        (["recall@400chars", "recall@1"], "beyond the cut-off 1"),
        (["recall@700chars", "recall@400chars"], "does not fit into the first 700 characters: it ends at 1,000"),
        (["recall@400chars", "recall@2"], "found"),
        (["recall@1", "recall@1200chars", "map"], "found"),
    ):
        assert became(rm.evaluate(SPAN, {"q": [A, B]}, metrics)) == [detail]


def test_repeats_may_be_what_takes_the_room() -> None:
    evaluation = rm.evaluate(SPAN, {"q": [A, A, B]}, ["recall@1000chars", "recall@900chars"])
    assert became(evaluation, "recall@1000chars") == ["behind 1 repeated document"]
    assert became(evaluation, "recall@900chars") == ["does not fit into the first 900 characters: it ends at 1,500"]


def test_results_as_relevant_leave_no_room_within_a_budget() -> None:
    evaluation = rm.evaluate({"q": ["a", "b"]}, {"q": [A, B]}, "r_precision")
    assert became(evaluation) == ["found", "found"]
    within = rm.evaluate({"q": ["a", "b"]}, {"q": [A, B]}, "recall@600chars")
    assert became(within) == ["found", "no room: the first 600 characters are as relevant"]


def test_calls_are_a_budget_too() -> None:
    calls = [rm.SearchCall("one", ["x"]), rm.SearchCall("two", ["d"])]
    run = rm.Trajectories({"q": rm.Trajectory(calls)}).union()
    evaluation = rm.evaluate({"q": ["d"]}, run, "recall@1calls")
    assert became(evaluation) == ["beyond the first 1 call: call 2 found it"]


def test_the_report_speaks_of_the_budget(tmp_path: Path) -> None:
    rm.evaluate(SPAN, {"q": [A, B]}, "recall@400chars").report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "does not fit into the first 400 characters: it ends at 1,000" in page
    assert "how much of what is relevant is in the first 400 characters" in page
    assert "cut-off 0" not in page
