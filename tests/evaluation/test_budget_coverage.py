"""How much text the systems of a comparison put within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import retrieval_metrics as rm

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 12_000
QRELS = {f"q{at}": [rm.Span("d", 60 * at, 60 * at + 30)] for at in range(30)}


def first(size: int, number: int, tokens: int | None = None) -> dict[str, list[rm.Retrieved]]:
    """Return for every query the first chunks of a document, in its order."""
    chunks = [
        rm.Retrieved(f"{size}-{at}", None, "d", at, min(at + size, LENGTH), tokens=tokens)
        for at in range(0, LENGTH, size)
    ]
    return dict.fromkeys(QRELS, chunks[:number])


def test_a_ranking_that_ends_before_the_budget_shows_nothing() -> None:
    short = rm.compare(QRELS, {"small": first(100, 3), "big": first(1000, 3)}, "recall@2000chars")
    (difference,) = short.differences
    assert difference.mean == pytest.approx(25 / 30)
    assert difference.p_corrected < 0.001
    assert [difference.comparable, difference.significant] == [False] * 2
    caution, sentence = short.summary
    assert caution == (
        "The budget of 2,000 characters is not filled: small fills 15 % of it, because the ranking ends. Retrieve "
        "about 20 results of small instead of 3."
    )
    assert sentence == "big and small are not comparable in recall@2000chars: they do not fill its budget alike."
    assert short.ranking.best["recall@2000chars"] == ("big", "small")
    as_advised = rm.compare(QRELS, {"small": first(100, 20), "big": first(1000, 3)}, "recall@2000chars")
    assert as_advised.summary[0] == "big and small have the same value for every query in recall@2000chars."


def test_the_budget_offered_is_one_that_every_system_fills() -> None:
    runs = {"small": first(100, 9), "big": first(300, 9), "other": first(150, 40)}
    use = rm.compare(QRELS, runs, "recall@5000chars").budgets[0]
    assert use.unfilled == ("small", "big")
    assert (round(use.systems["small"].fill_rate, 9), use.systems["small"].results_to_fill) == (0.18, 50)
    assert use.common_budget == rm.Budget(900, "chars")
    again = rm.compare(QRELS, runs, f"recall@{use.common_budget}")
    assert all(difference.comparable for difference in again.differences)
    assert "is not filled" not in str(again)


def test_a_tenth_of_the_queries_may_fall_short() -> None:
    big, small = first(300, 9), first(100, 9)
    for lacking, comparable in ((3, True), (4, False)):
        runs = {"big": big, "small": small | {f"q{at}": small["q0"][:2] for at in range(lacking)}}
        assert rm.compare(QRELS, runs, "recall@900chars").differences[0].comparable is comparable


def test_results_too_long_for_a_budget_are_said_to_be() -> None:
    comparison = rm.compare(QRELS, {"small": first(100, 30), "big": first(1000, 3)}, "recall@900chars")
    assert comparison.budgets[0].too_long == ("big",)
    assert comparison.summary[0] == (
        "The budget of 900 characters is too small for some results: big fills 0 % of it, because the next result does "
        "not fit. Choose a larger budget."
    )
    assert not comparison.differences[0].significant


def test_an_evaluation_says_how_far_a_budget_is_filled() -> None:
    result = rm.evaluate(QRELS, first(100, 3), ["recall@2000chars", "mrr@300chars", "ndcg@50chars", "map"])
    assert str(result).splitlines()[-3:] == [
        (
            "2000chars: filled to 15 % on average; 30 of 30 rankings end before 90 %, about 20 results instead of 3 "
            "would fill it"
        ),
        "300chars: filled to 100 % on average",
        "50chars: filled to 0 % on average; the next result does not fit",
    ]
    assert "filled" not in str(rm.evaluate(QRELS, first(100, 3), ["recall@2", "map"]))
    calls = rm.Trajectories({"q1": rm.Trajectory([rm.SearchCall("?", ["d"])])}).union()
    assert "filled" not in str(rm.evaluate({"q1": ["d"]}, calls, "recall@2calls"))


def test_numbers_alone_still_know_how_far_a_budget_is_filled(tmp_path: Path) -> None:
    saved, evaluations = tmp_path / "numbers.json", {}
    for name, size in (("small", 100), ("big", 1000)):
        evaluation = rm.evaluate(QRELS, first(size, 3), "recall@2000chars")
        evaluation.save(saved, rankings=False)
        evaluations[name] = rm.load(saved)
        assert str(evaluations[name]) == str(evaluation)
    comparison = rm.compare(evaluations)
    assert [each.comparable for each in comparison.differences] == [False]
    assert comparison.summary[0].startswith("The budget of 2,000 characters is not filled: small fills 15 % of it")
    some = rm.evaluate({"q0": QRELS["q0"]}, first(100, 30), "recall@2000chars")
    others = rm.evaluate({"q1": QRELS["q1"]}, first(100, 3), "recall@2000chars")
    assert "% on average; 1 of 2 rankings end" in str(rm.merge([some, others]))


def test_tokens_and_cut_offs_by_number_do_not_hide_it() -> None:
    runs = {"small": first(100, 3, tokens=20), "big": first(1000, 3, tokens=200)}
    comparison = rm.compare(QRELS, runs, ["recall@3", "recall@400tokens", "ndcg@400tokens"])
    comparable = {difference.metric: difference.comparable for difference in comparison.differences}
    assert comparable == {"recall@3": True, "recall@400tokens": False, "ndcg@400tokens": False}
    assert comparison.summary[0].startswith("The budget of 400 tokens is not filled: small fills 15 % of it")
    assert "the first 3 results of big hold 3,000 characters" in comparison.summary[1].lower()


def test_only_the_pairs_with_the_short_system_are_held_back() -> None:
    runs = {
        "short": first(100, 3),
        "one": first(200, 20),
        "two": dict.fromkeys(QRELS, first(200, 40)["q0"][5:]),
    }
    comparison = rm.compare(QRELS, runs, "recall@2000chars", margin=0.1)
    found = {difference.pair: (difference.comparable, difference.significant) for difference in comparison.differences}
    assert found == {("one", "short"): (False, False), ("two", "short"): (False, False), ("two", "one"): (True, True)}
    assert not any("no worse" in said or "short is" in said for said in comparison.summary)


def test_queries_without_results_do_not_count_as_short() -> None:
    failed = first(100, 30) | {f"q{at}": [] for at in range(10)}
    with pytest.warns(rm.RetrievalWarning):
        comparison = rm.compare(QRELS, {"failed": failed, "all": first(100, 30)}, "recall@2000chars")
    assert comparison.budgets[0].systems["failed"].n == 20
    assert comparison.differences[0].comparable


def test_a_saved_comparison_remembers_it(tmp_path: Path) -> None:
    comparison = rm.compare(QRELS, {"small": first(100, 3), "big": first(1000, 3)}, "recall@2000chars")
    for rankings in (True, False):
        comparison.save(tmp_path / "saved.json", rankings=rankings)
        loaded = rm.load(tmp_path / "saved.json")
        assert loaded.budgets == comparison.budgets
        assert loaded.summary == comparison.summary
