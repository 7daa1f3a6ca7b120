"""What a budget leaves no room for is told apart from what was not retrieved."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from explained_facts import find_facts

A = rm.Retrieved("a", "a" * 500, "d", 0, tokens=120)
B = rm.Retrieved("b", "b" * 500, "d", 500, tokens=120)
SPAN = rm.Span("d", 600, 700)
QRELS = {"q": [SPAN]}


@pytest.mark.parametrize(
    ("metric", "end"),
    [
        ("recall@400chars", 1_000),
        ("recall@999chars", 1_000),
        ("recall@1000chars", None),
        ("ndcg@239tokens", 240),
        ("ndcg@240tokens", None),
    ],
)
def test_what_ends_beyond_a_budget_is_not_found(metric: str, end: int | None) -> None:
    evaluation = rm.evaluate(QRELS, {"q": [A, B]}, metric)
    facts = find_facts(evaluation, metric)[SPAN]
    assert find_facts(evaluation)[SPAN] == facts
    if end is None:
        assert facts.kind == "found"
        assert evaluation.means[metric] > 0
        assert evaluation.worst(metric).failures == {}
    else:
        assert (facts.kind, sum(facts.item_lengths)) == ("over_budget", end)
        assert evaluation.worst(metric).failures == {"over_budget": 1}


@pytest.mark.parametrize(
    ("metrics", "kind"),
    [
        (["recall@400chars", "recall@1"], "below_cutoff"),
        (["recall@700chars", "recall@400chars"], "over_budget"),
        (["recall@400chars", "recall@2"], "found"),
        (["recall@1", "recall@1200chars", "map"], "found"),
    ],
)
def test_of_several_cut_offs_the_one_that_keeps_most_counts(metrics: list[str], kind: str) -> None:
    facts = find_facts(rm.evaluate(QRELS, {"q": [A, B]}, metrics))[SPAN]
    assert facts.kind == kind
    if facts.budget is not None:
        assert facts.budget.size == 700


def test_repeats_may_be_what_takes_the_room() -> None:
    evaluation = rm.evaluate(QRELS, {"q": [A, A, B]}, ["recall@1000chars", "recall@900chars"])
    behind = find_facts(evaluation, "recall@1000chars")[SPAN]
    assert (behind.kind, behind.n_duplicates_above) == ("behind_duplicates", 1)
    beyond = find_facts(evaluation, "recall@900chars")[SPAN]
    assert (beyond.kind, sum(beyond.item_lengths)) == ("over_budget", 1_500)


def test_behind_repeats_of_a_budget_only_if_it_would_fit_without_them() -> None:
    sizes = [("a", 100), ("a", 100), ("x", 10), ("d", 60)]
    chunks = [rm.Retrieved(name, name * size) for name, size in sizes]
    evaluation = rm.evaluate({"q": ["d"]}, {"q": chunks}, ["recall@180chars", "recall@160chars"])
    # 100 + 10 + 60 characters without the repeat.
    assert find_facts(evaluation, "recall@180chars")["d"].kind == "behind_duplicates"
    beyond = find_facts(evaluation, "recall@160chars")["d"]
    assert (beyond.kind, sum(beyond.item_lengths)) == ("over_budget", 270)


def test_results_as_relevant_leave_no_room_within_a_budget() -> None:
    evaluation = rm.evaluate({"q": ["a", "b"]}, {"q": [A, B]}, ["r_precision", "recall@600chars"])
    assert {facts.kind for facts in find_facts(evaluation, "r_precision").values()} == {"found"}
    within = find_facts(evaluation, "recall@600chars")
    assert (within["a"].kind, within["b"].kind) == ("found", "cutoff_full")


def test_calls_are_a_budget_too_with_room_for_all_that_each_finds() -> None:
    calls = [rm.SearchCall("a", ["x"]), rm.SearchCall("b", ["y"], turn=2)]
    run = rm.Trajectories({"q": rm.Trajectory(calls)}).union()
    late = find_facts(rm.evaluate({"q": ["x", "y"]}, run, "recall@1calls"))["y"]
    assert (late.kind, late.item_lengths[-1]) == ("over_budget", 2)


def test_the_report_speaks_of_the_budget(tmp_path: Path) -> None:
    rm.evaluate(QRELS, {"q": [A, B]}, "recall@400chars").report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "exceeds the budget of 400 characters" in page
    assert "share of the relevant documents that are in the first 400 characters" in page
    assert "cutoff 0" not in page
