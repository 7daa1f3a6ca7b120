"""A ranking has who is better than the baseline or worse than the best, and for whom that is not known."""

import io
import math
import re
from pathlib import Path

import pytest

import retrieval_metrics as rm
from ranked_systems import same_ranking, systems
from retrieval_metrics.comparison.system_ranking import choose_main_pair

QRELS = {f"q{number}": ["d"] for number in range(40)}
BEST = same_ranking(QRELS, "d")
BAD = same_ranking(QRELS, "x", "y", "d")
WORST = same_ranking(QRELS, "x", "y", "z", "u", "d")
# Two queries in 40 have the relevant document at rank 2.
GOOD = {**BEST, "q0": ["x", "d"], "q20": ["x", "d"]}


def list_statuses(comparison: rm.Comparison, metric: str = "mrr") -> list[tuple[str, str]]:
    return [(place.system, place.status) for place in comparison.ranking.by_metric[metric]]


def list_signs(text: str) -> list[str]:
    """Return what stands behind the name of each system in a printed ranking of one metric."""
    lines = text.splitlines()
    return [line.split()[2] for line in lines[1:]]


def test_without_a_baseline_systems_are_compared_with_the_best() -> None:
    comparison = rm.compare(QRELS, {"worst": WORST, "bad": BAD, "good": GOOD, "best": BEST}, ["mrr", "recall@5"])
    assert list_statuses(comparison) == [
        ("best", "best"),
        ("good", "not_significant"),
        ("bad", "worse"),
        ("worst", "worse"),
    ]
    assert list_statuses(comparison, "recall@5")[0] == ("worst", "best")
    assert comparison.ranking.best["mrr"] == ("best", "good")
    assert list(comparison.ranking.sentences_by_metric) == ["mrr", "recall@5"]
    assert len(comparison.ranking.sentences) == 3


def test_with_a_baseline_better_systems_stand_above_it_and_worse_ones_below() -> None:
    runs = {"good": GOOD, "best": BEST, "bad": BAD, "same": BAD, "worst": WORST}
    comparison = rm.compare(QRELS, runs, "mrr", baseline="bad")
    assert list_statuses(comparison) == [
        ("best", "better"),
        ("good", "better"),
        ("bad", "baseline"),
        ("same", "not_significant"),
        ("worst", "worse"),
    ]
    assert comparison.ranking.best["mrr"] == ("best", "good")
    signs = list_signs(str(comparison.ranking))
    assert (signs[:2], signs[3:5]) == (["▲", "▲"], ["=", "▼"])


def test_nothing_is_better_than_the_best_as_baseline() -> None:
    runs = {"good": GOOD, "best": BEST, "bad": BAD, "same": BAD, "worst": WORST}
    comparison = rm.compare(QRELS, runs, "mrr", baseline="best")
    statuses = dict(list_statuses(comparison))
    assert statuses == {
        "best": "baseline",
        "good": "not_significant",
        "bad": "worse",
        "same": "worse",
        "worst": "worse",
    }
    assert comparison.ranking.best["mrr"] == ("best", "good")
    assert "▲" not in str(comparison.ranking)


def test_a_sign_means_the_same_in_every_column() -> None:
    ranks = {"base": [3] * 40, "bad": [6] * 40, "fourth": [4] * 40, "fast": [3, 1] * 20}
    comparison = rm.compare(*systems(ranks), ["mrr", "hit_rate@3"], baseline="base")
    signs = {}
    for line in str(comparison).splitlines()[1:5]:
        signs[line.split()[0]] = re.findall(r" [▲▼=]", line)
    assert signs == {"fast": [" ▲", " ="], "base": [], "fourth": [" ▼", " ▼"], "bad": [" ▼", " ▼"]}
    statuses = dict(list_statuses(comparison, "hit_rate@3"))
    assert statuses == {"base": "baseline", "fast": "not_significant", "fourth": "worse", "bad": "worse"}


def test_a_terminal_without_triangles_gets_plus_and_minus(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = rm.compare(QRELS, {"good": GOOD, "bad": BAD, "worst": WORST}, "mrr", baseline="bad")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    text = str(comparison.ranking)
    signs = list_signs(text)
    assert (signs[0], signs[2]) == ("+", "-")
    assert "+ better than bad, - worse than bad" in text


def test_the_pair_to_show_first_is_the_best_and_the_second() -> None:
    runs = {"bad": BAD, "good": GOOD, "best": BEST}
    comparison = rm.compare(QRELS, runs, "mrr")
    assert set(choose_main_pair(comparison, comparison.metrics[0])) == {"best", "good"}
    with_baseline = rm.compare(QRELS, runs, "mrr", baseline="bad")
    assert choose_main_pair(with_baseline, with_baseline.metrics[0]) == ("best", "bad")
    two = rm.compare(QRELS, {"best": BEST, "good": GOOD}, "mrr")
    assert choose_main_pair(two, two.metrics[0]) == ("good", "best")
    with_identical = rm.compare(QRELS, {"best": BEST, "the same": BEST, "good": GOOD}, "mrr", baseline="best")
    assert choose_main_pair(with_identical, with_identical.metrics[0]) == ("good", "best")


def test_a_system_without_values_does_not_lead_those_that_differ() -> None:
    evaluations = {}
    for name, value in {"low": 1.0, "none": math.nan, "high": 2.0}.items():
        scores = {f"q{number}": value + number % 3 / 4 for number in range(12)}
        evaluations[name] = rm.Evaluation.from_scores({"gain": scores}, bounds=(0, 3))
    comparison = rm.compare(evaluations)
    statuses = dict(list_statuses(comparison, "gain"))
    assert statuses == {"high": "best", "none": "undetermined", "low": "worse"}


def test_pairs_with_too_few_queries_are_unattainable() -> None:
    nan = math.nan  # with the baseline, the others have 3 and 4 queries in common
    values = {"base": [0.0, 0.5, 1.0, 0.5], "one": [0.5, 0.0, 0.5, nan], "two": [0.5, 0.5, 0.0, 1.0]}
    evaluations = {}
    for name, scores in values.items():
        by_query = {f"q{number}": score for number, score in enumerate(scores)}
        evaluations[name] = rm.Evaluation.from_scores({"gain": by_query}, bounds=(0, 1))
    ranking = rm.compare(evaluations, baseline="base").ranking
    assert (ranking.n_unattainable, ranking.tests, ranking.n_units, ranking.min_units) == (2, 2, 4, 6)
    (sentence,) = ranking.sentences_by_metric["gain"]
    assert "4 queries" in sentence


def test_a_margin_has_an_outcome_for_every_system_but_the_baseline() -> None:
    ranks = {"old": [1, 2, 3, 1] * 50, "same": [1, 2, 3, 1] * 50, "bad": [5] * 200}
    comparison = rm.compare(*systems(ranks), "mrr", baseline="old", margin=0.02)
    assert comparison.ranking.margin == 0.02
    assert comparison.ranking.noninferiority == {"mrr": {"same": "noninferior", "bad": "inferior"}}
    without_baseline = rm.compare(*systems(ranks), "mrr", margin=0.02)
    assert (without_baseline.ranking.margin, without_baseline.ranking.noninferiority) == (None, {})


def test_the_level_of_a_margin_is_printed_with_where_its_outcome_stands() -> None:
    ranks = {"old": [1, 2, 3, 1] * 50, "same": [1, 2, 3, 1] * 50, "bad": [5] * 200, "other": [1, 2, 3, 2] * 50}
    text = str(rm.compare(*systems(ranks), "mrr", baseline="old", margin=0.02))
    assert "; non-inferiority: one-sided 95% tests, not corrected for multiple comparisons" in text
    without_baseline = str(rm.compare(*systems(ranks), "mrr", margin=0.02))
    assert "non-inferiority (in print(comparison.conclusions)): one-sided" in without_baseline


def test_a_report_has_one_design_effect_once(tmp_path: Path) -> None:
    clusters = {query: number // 2 for number, query in enumerate(QRELS)}
    rm.compare(QRELS, {"best": BEST, "good": GOOD}, "mrr", clusters=clusters).report(tmp_path / "report.html")
    note = "design effect of the differences: [0-9.]+<"
    assert re.search(note, (tmp_path / "report.html").read_text())


def test_six_systems_and_four_metrics_print_on_one_screen_and_pairs_on_request() -> None:
    runs = {f"a system called {number}": (BEST, GOOD, BAD)[number % 3] for number in range(6)}
    comparison = rm.compare(QRELS, runs, ["mrr", "recall@2", "ndcg@10", "map"])
    lines = str(comparison).splitlines()
    assert len(lines) <= 17
    assert max(map(len, lines)) <= 310
    assert "  1.000 [" in str(comparison)
    assert len(str(comparison.differences).splitlines()) > 15 * 5
    assert len(comparison.differences) == 15 * 4
    assert isinstance(comparison.differences, tuple)


def test_seconds_stand_beside_quality_where_they_are_known() -> None:
    timed = rm.RetrievedRun({query: ["d"] for query in QRELS})
    timed.seconds = dict.fromkeys(QRELS, 0.25)
    comparison = rm.compare(QRELS, {"timed": timed, "not": GOOD}, "mrr")
    assert comparison.ranking.seconds == {"timed": 0.25}
    assert comparison.ranking.pareto == {}
    table = str(comparison.ranking).splitlines()
    assert table[0].endswith("seconds per query")
    assert table[1].endswith("0.25")
    assert table[2].endswith("-")


def test_timed_systems_are_printed_with_what_their_seconds_are_worth() -> None:
    runs = {}
    for number, run in enumerate((BAD, BEST, BEST)):
        runs[f"s{number}"] = rm.RetrievedRun(run)
        runs[f"s{number}"].seconds = dict.fromkeys(QRELS, 0.25 * (number + 1))
    ranking = rm.compare(QRELS, runs, "mrr").ranking
    assert ranking.pareto == {"s0": "on", "s1": "on", "s2": "possibly"}
    lines = str(ranking).splitlines()
    assert lines[0].endswith("Pareto")
    assert [line.split()[-1] for line in lines[1:4]] == [ranking.pareto[system] for system in ranking.systems]


def test_costs_that_cannot_be_right_are_refused() -> None:
    comparison = rm.compare(*systems({"good": [1] * 12, "bad": [2] * 12}), "mrr")
    ranking = comparison.ranking
    assert ranking.pareto_frontier({"good": 2, "bad": 1}) == {"bad": "on", "good": "on"}
    assert ranking.pareto_frontier({"good": 1, "bad": 1}) == {"good": "on", "bad": "off"}
    assert ranking.cheapest_noninferior(0.1, {"good": 2, "bad": 1}) == "good"
    with pytest.raises(ValueError, match="cost of 'bad' must be a finite number, got nan"):
        ranking.pareto_frontier({"good": 1, "bad": math.nan})
    with pytest.raises(KeyError, match="'bad' has no cost"):
        ranking.pareto_frontier({"good": 1})
    with pytest.raises(KeyError, match=r"^map was not compared; compared metrics: mrr$"):
        ranking.pareto_frontier({"good": 1, "bad": 1}, "map")
    with_baseline = rm.compare(comparison.evaluations, baseline="bad").ranking
    with pytest.raises(ValueError, match="all pairs compared, but baseline='bad' was given"):
        with_baseline.pareto_frontier({"good": 1, "bad": 1})
