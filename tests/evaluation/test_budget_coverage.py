"""How much text the systems of a comparison put within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.budget_coverage import measure_budget_fills
from retrieval_metrics.evaluation.unequal_text import find_unequal_text

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 12_000
QRELS = {f"q{number}": [rm.Span("d", 60 * number, 60 * number + 30)] for number in range(30)}


def retrieve_first(n_chunks: int, *, size: int, tokens: int | None = None) -> dict[str, list[rm.Retrieved]]:
    """Return for every query the first chunks of a document, in its order."""
    chunks = []
    for start in range(0, n_chunks * size, size):
        chunks.append(rm.Retrieved(f"{size}-{start}", None, "d", start, min(start + size, LENGTH), tokens=tokens))
    return dict.fromkeys(QRELS, chunks)


def test_a_ranking_that_ends_before_the_budget_shows_nothing() -> None:
    short = rm.compare(
        QRELS, {"small": retrieve_first(3, size=100), "big": retrieve_first(3, size=1000)}, "recall@2000chars"
    )
    (difference,) = short.differences
    assert difference.mean == pytest.approx(25 / 30)
    assert difference.p_corrected < 0.001
    assert (difference.comparable, difference.significant) == (False, False)
    (use,) = short.budgets
    assert use.unfilled == ("small",)
    assert use.systems["small"].results_to_fill == 20
    assert short.summary[0] == use.sentences[0]
    assert short.ranking.best["recall@2000chars"] == ("big", "small")
    runs = {"small": retrieve_first(20, size=100), "big": retrieve_first(3, size=1000)}
    as_advised = rm.compare(QRELS, runs, "recall@2000chars")
    assert as_advised.conclusions[0].kind == "identical"


def test_the_budget_offered_is_one_that_every_system_fills() -> None:
    runs = {
        "small": retrieve_first(9, size=100),
        "big": retrieve_first(9, size=300),
        "other": retrieve_first(40, size=150),
    }
    use = rm.compare(QRELS, runs, "recall@5000chars").budgets[0]
    assert use.unfilled == ("small", "big")
    assert (round(use.systems["small"].fill_rate, 9), use.systems["small"].results_to_fill) == (0.18, 50)
    assert use.common_budget == rm.Budget(900, "chars")
    again = rm.compare(QRELS, runs, f"recall@{use.common_budget}")
    assert all(difference.comparable for difference in again.differences)
    assert "is not filled" not in str(again)


def test_a_tenth_of_the_queries_may_fall_short() -> None:
    small = retrieve_first(9, size=100)
    for n_short, comparable in ((3, True), (4, False)):
        short = {f"q{number}": small["q0"][:2] for number in range(n_short)}
        runs = {"big": retrieve_first(9, size=300), "small": small | short}
        assert rm.compare(QRELS, runs, "recall@900chars").differences[0].comparable is comparable


def test_results_too_long_for_a_budget_are_said_to_be() -> None:
    comparison = rm.compare(
        QRELS, {"small": retrieve_first(30, size=100), "big": retrieve_first(3, size=1000)}, "recall@900chars"
    )
    (use,) = comparison.budgets
    assert use.too_long == ("big",)
    assert comparison.summary[0] == use.sentences[0]
    assert not comparison.differences[0].significant


def test_an_evaluation_says_how_far_a_budget_is_filled() -> None:
    result = rm.evaluate(
        QRELS, retrieve_first(3, size=100), ["recall@2000chars", "mrr@300chars", "ndcg@50chars", "map"]
    )
    fills = measure_budget_fills(result.scores)
    assert [f"{budget}: {fill}" for budget, fill in fills.items()] == str(result).splitlines()[-3:]
    long, filled, narrow = fills.values()
    assert (round(long.fill_rate, 9), long.n_unfilled, long.n, long.results_to_fill) == (0.15, 30, 30, 20)
    assert (filled.fill_rate, filled.is_full, filled.has_unused_room) == (1.0, True, False)
    assert (narrow.fill_rate, narrow.is_full, narrow.has_unused_room) == (0.0, True, True)
    assert "filled" not in str(rm.evaluate(QRELS, retrieve_first(3, size=100), ["recall@2", "map"]))
    calls = rm.Trajectories({"q1": rm.Trajectory([rm.SearchCall("?", ["d"])])}).union()
    assert "filled" not in str(rm.evaluate({"q1": ["d"]}, calls, "recall@2calls"))


def test_numbers_alone_still_know_how_far_a_budget_is_filled(tmp_path: Path) -> None:
    saved = tmp_path / "numbers.json"
    evaluations = {}
    for name, size in (("small", 100), ("big", 1000)):
        evaluation = rm.evaluate(QRELS, retrieve_first(3, size=size), "recall@2000chars")
        evaluation.save(saved, rankings=False)
        evaluations[name] = rm.load(saved)
        assert str(evaluations[name]) == str(evaluation)
    comparison = rm.compare(evaluations)
    assert [difference.comparable for difference in comparison.differences] == [False]
    assert comparison.budgets[0].unfilled == ("small",)
    filled = rm.evaluate({"q0": QRELS["q0"]}, retrieve_first(30, size=100), "recall@2000chars")
    short = rm.evaluate({"q1": QRELS["q1"]}, retrieve_first(3, size=100), "recall@2000chars")
    (fill,) = measure_budget_fills(rm.merge([filled, short]).scores).values()
    assert (fill.n_unfilled, fill.n) == (1, 2)


def test_tokens_and_cut_offs_by_number_do_not_hide_it() -> None:
    runs = {"small": retrieve_first(3, size=100, tokens=20), "big": retrieve_first(3, size=1000, tokens=200)}
    comparison = rm.compare(QRELS, runs, ["recall@3", "recall@400tokens", "ndcg@400tokens"])
    comparable = {difference.metric: difference.comparable for difference in comparison.differences}
    assert comparable == {"recall@3": True, "recall@400tokens": False, "ndcg@400tokens": False}
    (use,) = comparison.budgets
    assert (use.budget, use.unfilled) == (rm.Budget(400, "tokens"), ("small",))
    unequal_text = find_unequal_text(comparison.scores, comparison.metrics, comparison.budgets)
    assert unequal_text is not None
    assert (unequal_text.shortest, unequal_text.longest, unequal_text.longest_length) == ("small", "big", 3000)


def test_only_the_pairs_with_the_short_system_are_held_back() -> None:
    runs = {
        "short": retrieve_first(3, size=100),
        "early": retrieve_first(20, size=200),
        "late": dict.fromkeys(QRELS, retrieve_first(40, size=200)["q0"][5:]),
    }
    comparison = rm.compare(QRELS, runs, "recall@2000chars", margin=0.1)
    assert {
        difference.pair: (difference.comparable, difference.significant) for difference in comparison.differences
    } == {
        ("early", "short"): (False, False),
        ("late", "short"): (False, False),
        ("late", "early"): (True, True),
    }
    for sentence in comparison.summary:
        assert "no worse" not in sentence
        assert "short is" not in sentence


def test_queries_without_results_do_not_count_as_short() -> None:
    failed = retrieve_first(30, size=100) | {f"q{number}": [] for number in range(10)}
    with pytest.warns(rm.RetrievalWarning):
        comparison = rm.compare(QRELS, {"failed": failed, "all": retrieve_first(30, size=100)}, "recall@2000chars")
    assert comparison.budgets[0].systems["failed"].n == 20
    assert comparison.differences[0].comparable


def test_a_saved_comparison_remembers_it(tmp_path: Path) -> None:
    comparison = rm.compare(
        QRELS, {"small": retrieve_first(3, size=100), "big": retrieve_first(3, size=1000)}, "recall@2000chars"
    )
    for rankings in (True, False):
        comparison.save(tmp_path / "saved.json", rankings=rankings)
        loaded = rm.load(tmp_path / "saved.json")
        assert loaded.budgets == comparison.budgets
        assert loaded.summary == comparison.summary


def test_the_advice_is_about_the_rankings_that_fall_short() -> None:
    chunks = retrieve_first(9, size=100)["q0"]
    # A third of the rankings hold 2 chunks, and one of these 1; the others hold more than the budget takes.
    uneven = {f"q{number}": chunks[:2] for number in range(9)} | {"q9": chunks[:1]}
    runs = {"big": retrieve_first(9, size=300), "small": retrieve_first(9, size=100) | uneven}
    fill = rm.compare(QRELS, runs, "recall@300chars").budgets[0].systems["small"]
    assert (fill.n_unfilled, fill.n, fill.mean_results, fill.results_to_fill) == (10, 30, 1.9, 3)
    assert fill.unfilled_rate == pytest.approx(1.9 / 3)


def test_the_advice_is_always_more_than_what_was_retrieved() -> None:
    # Most rankings that fall short lack one chunk, but a few long ones raise the mean to what most of them need.
    chunks = retrieve_first(9, size=100)["q0"]
    crumbs = [rm.Retrieved(f"crumb {number}", None, "d", number, number + 1) for number in range(40)]
    uneven = {f"q{number}": chunks[:1] for number in range(12)} | {"q12": crumbs}
    runs = {"big": retrieve_first(9, size=300), "small": retrieve_first(9, size=100) | uneven}
    fill = rm.compare(QRELS, runs, "recall@200chars").budgets[0].systems["small"]
    assert fill.mean_results == pytest.approx(4)
    assert fill.results_to_fill == 5
