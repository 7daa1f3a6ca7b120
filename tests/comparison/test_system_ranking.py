"""A ranking says who is better than the baseline or worse than the best, and of whom that is not known."""

import io
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.system_ranking import choose_main_pair

QRELS = {f"q{at}": ["d"] for at in range(40)}
BEST = {query: ["d"] for query in QRELS}
GOOD = {query: ["d"] if at % 20 else ["x", "d"] for at, query in enumerate(QRELS)}
BAD = {query: ["x", "y", "d"] for query in QRELS}
WORST = {query: ["x", "y", "z", "u", "d"] for query in QRELS}


def standings(comparison: rm.Comparison, metric: str = "mrr") -> list[tuple[str, str]]:
    return [(place.system, place.status) for place in comparison.ranking.by_metric[metric]]


def test_without_a_baseline_systems_stand_beside_the_best() -> None:
    comparison = rm.compare(QRELS, {"worst": WORST, "bad": BAD, "good": GOOD, "best": BEST}, ["mrr", "recall@5"])
    assert standings(comparison) == [
        ("best", "best"),
        ("good", "not_significant"),
        ("bad", "worse"),
        ("worst", "worse"),
    ]
    assert standings(comparison, "recall@5")[0] == ("worst", "best")
    assert comparison.ranking.best["mrr"] == ("best", "good")
    assert comparison.ranking.sentences == [
        "best is better than bad and worst in mrr, by 0.667 in every query and 0.800 in every query.",
        comparison.conclusions.get("mrr", "best", "good").sentence,
        "bad, good and best have the same value as worst for every query in recall@5.",
    ]


def test_beside_a_baseline_losers_are_listed_as_winners_are() -> None:
    runs = {"good": GOOD, "best": BEST, "bad": BAD, "same": BAD, "worst": WORST}
    comparison = rm.compare(QRELS, runs, "mrr", baseline="bad")
    assert standings(comparison) == [
        ("best", "better"),
        ("good", "better"),
        ("bad", "baseline"),
        ("same", "not_significant"),
        ("worst", "worse"),
    ]
    good = comparison.difference("mrr", "good")
    assert comparison.ranking.sentences == [
        "best and good are better than bad in mrr, by 0.667 in every query and {:.3f} ({:.3f} to {:.3f}).".format(
            good.mean, *good.interval
        ),
        "worst is worse than bad in mrr, by 0.133 in every query.",
        "same and bad have the same value for every query in mrr.",
    ]
    lines = str(comparison.ranking).splitlines()
    assert [line.split()[1] for line in lines[1:6]] == ["▲", "▲", lines[3].split()[1], "=", "▼"]
    assert lines[6].startswith("▲ better than bad, = no clear difference from bad, ▼ worse than bad; bad with its 95 %")
    assert comparison.ranking.best["mrr"] == ("best", "good")
    above = rm.compare(QRELS, runs, "mrr", baseline="best").ranking
    assert above.sentences[0].startswith("bad, same and worst are worse than best in mrr, by 0.667 in every query, ")
    assert above.sentences[1].startswith("No clear difference between good and best in mrr (95 % interval -")
    assert "▲" not in str(above)


def test_a_sign_means_the_same_in_every_column() -> None:
    ranks = {"base": 3, "bad": 6, "fourth": 4}
    qrels = {f"q{at}": ["d"] for at in range(40)}
    runs = {
        name: {query: [*(f"x{n}" for n in range(rank - 1)), "d"] for query in qrels} for name, rank in ranks.items()
    }
    runs["fast"] = {query: ["d"] if at % 2 else ["x", "y", "d"] for at, query in enumerate(qrels)}
    comparison = rm.compare(qrels, runs, ["mrr", "hit_rate@3"], baseline="base")
    text = str(comparison)
    cells = {line.split()[0]: re.findall(r"[▲▼=] ", line) for line in text.splitlines()[1:5]}
    assert cells == {"fast": ["▲ ", "= "], "base": [], "fourth": ["▼ ", "▼ "], "bad": ["▼ ", "▼ "]}
    (worse, alike) = comparison.ranking.sentences_by_metric["hit_rate@3"]
    assert worse.startswith("bad and fourth are worse than base in hit_rate@3, by 1.00 in every query.")
    assert alike == "fast and base have the same value for every query in hit_rate@3."


def test_a_terminal_without_triangles_gets_plus_and_minus(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = rm.compare(QRELS, {"good": GOOD, "bad": BAD, "worst": WORST}, "mrr", baseline="bad")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    lines = str(comparison.ranking).splitlines()
    assert [line.split()[1] for line in (lines[1], lines[3])] == ["+", "-"]
    assert "+ better than bad, - worse than bad" in lines[4]


def test_a_sentence_names_a_few_systems_of_many() -> None:
    runs = {"bad": BAD} | {f"good {at}": BEST for at in range(6)}
    _, said = rm.compare(QRELS, runs, "mrr").ranking.sentences
    assert said == "good 1, good 2, good 3, good 4 and 1 more have the same value as good 0 for every query in mrr."


def test_a_sentence_on_several_pairs_holds_all_their_intervals() -> None:
    draws = random.Random(3)
    runs = {
        f"s{at}": {query: [*(f"x{n}" for n in range(draws.randrange(5))), "d"] for query in QRELS} for at in range(9)
    }
    comparison = rm.compare(QRELS, {**runs, "far": dict.fromkeys(QRELS, (*"abcdefghij", "d"))}, "mrr")
    best = comparison.ranking.by_metric["mrr"][0].system
    better, alike = comparison.ranking.sentences_by_metric["mrr"]
    assert better.startswith(f"{best} is better than far in mrr, by ")
    low, high = map(float, re.findall(r"all 95 % intervals within ([-+.\d]+) to ([-+.\d]+)\)", alike)[0])
    others = [one for one in comparison.conclusions if best in one.details.pair and "far" not in one.details.pair]
    assert len(others) == 8
    ends = [end if one.system == best else -end for one in others for end in one.interval]
    assert (low, high) == pytest.approx((min(ends), max(ends)), rel=0.01)


def test_the_pair_that_is_shown_is_the_best_and_the_second() -> None:
    runs = {"bad": BAD, "good": GOOD, "best": BEST}
    comparison = rm.compare(QRELS, runs, "mrr")
    assert set(choose_main_pair(comparison, comparison.metrics[0])) == {"best", "good"}
    beside = rm.compare(QRELS, runs, "mrr", baseline="bad")
    assert choose_main_pair(beside, beside.metrics[0]) == ("best", "bad")
    level = rm.compare(QRELS, {"best": BEST, "good": GOOD}, "mrr")
    assert choose_main_pair(level, level.metrics[0]) == ("good", "best")
    alike = rm.compare(QRELS, {"best": BEST, "the same": BEST, "good": GOOD}, "mrr", baseline="best")
    assert choose_main_pair(alike, alike.metrics[0]) == ("good", "best")


def test_a_system_without_values_does_not_lead_those_that_differ() -> None:
    values = {"low": 1.0, "none": float("nan"), "high": 2.0}
    given = {
        name: rm.Evaluation.from_scores({"gain": {f"q{at}": value + at % 3 / 4 for at in range(12)}}, bounds=(0, 3))
        for name, value in values.items()
    }
    assert rm.compare(given).ranking.sentences == [
        "high is better than low in gain, by 1.00 in every query.",
        "high and none have no query in common for which gain is defined.",
    ]


def test_of_pairs_with_too_few_queries_the_sentence_names_the_most() -> None:
    nan = float("nan")  # with the baseline, the others have 3 and 4 queries in common
    values = {"base": [0.0, 0.5, 1.0, 0.5], "one": [0.5, 0.0, 0.5, nan], "two": [0.5, 0.5, 0.0, 1.0]}
    given = {
        name: rm.Evaluation.from_scores({"gain": {f"q{at}": value for at, value in enumerate(of)}}, bounds=(0, 1))
        for name, of in values.items()
    }
    (said,) = rm.compare(given, baseline="base").ranking.sentences_by_metric["gain"]
    assert said.endswith("4 queries cannot show any, however large; at least 6 are needed.")


def test_a_report_says_one_design_effect_once(tmp_path: Path) -> None:
    clusters = {query: at // 2 for at, query in enumerate(QRELS)}
    rm.compare(QRELS, {"best": BEST, "good": GOOD}, "mrr", clusters=clusters).report(tmp_path / "report.html")
    said = "design effect of the differences \\(variance relative to independent queries\\): [0-9.]+<"
    assert re.search(said, (tmp_path / "report.html").read_text())


def test_what_cannot_be_found_at_all_is_said_with_what_would_help() -> None:
    few = {query: QRELS[query] for query in list(QRELS)[:4]}
    runs = {f"s{at}": {query: (BEST if at % 2 else BAD)[query] for query in few} for at in range(6)}
    comparison = rm.compare(few, runs, ["mrr", "recall@2", "ndcg@10", "map"])
    assert "with 4 queries none of these 60 tests can succeed; one test alone needs 6" in str(comparison)
    ranking = replace(comparison.ranking, n_units=8, n_unattainable=3)
    assert (
        ranking.notes[0] == "with 8 queries 3 of these 60 tests can hardly succeed; choose a baseline or fewer metrics"
    )
    assert "choose fewer metrics" in replace(ranking, baseline="s0").notes[0]
    one = rm.compare(few, {name: runs[name] for name in ("s0", "s1")}, "mrr").ranking
    assert one.notes[0] == "with 4 queries the test cannot succeed; it needs 6"


def test_six_systems_and_four_metrics_print_on_one_screen_and_pairs_on_request() -> None:
    runs = {f"a system called {at}": (BEST, GOOD, BAD)[at % 3] for at in range(6)}
    comparison = rm.compare(QRELS, runs, ["mrr", "recall@2", "ndcg@10", "map"])
    lines = str(comparison).splitlines()
    assert len(lines) <= 16
    assert max(map(len, lines)) <= 310
    assert "  1.000 [" in str(comparison)
    assert len(str(comparison.differences).splitlines()) > 15 * 5
    assert len(comparison.differences) == 15 * 4
    assert isinstance(comparison.differences, tuple)


def test_seconds_stand_beside_quality_where_they_are_known() -> None:
    timed = rm.RetrievedRun({query: ["d"] for query in QRELS})
    timed.seconds = dict.fromkeys(QRELS, 0.25)
    comparison = rm.compare(QRELS, {"timed": timed, "not": GOOD}, "mrr")
    table = str(comparison.ranking).splitlines()
    assert table[0].endswith("seconds per query")
    assert table[1].endswith("0.25")
    assert table[2].endswith("-")


def test_costs_that_cannot_be_right_are_refused() -> None:
    qrels = {f"q{at}": ["d"] for at in range(12)}
    good, bad = (dict.fromkeys(qrels, ranking) for ranking in (["d"], ["x", "d"]))
    ranking = rm.compare(qrels, {"good": good, "bad": bad}, "mrr").ranking
    assert ranking.pareto_frontier({"good": 2, "bad": 1}) == {"bad": "on", "good": "on"}
    assert ranking.pareto_frontier({"good": 1, "bad": 1}) == {"good": "on", "bad": "off"}
    assert ranking.cheapest_noninferior(0.1, {"good": 2, "bad": 1}) == "good"
    with pytest.raises(ValueError, match="cost of 'bad' must be a finite number, got nan"):
        ranking.pareto_frontier({"good": 1, "bad": math.nan})
    with pytest.raises(KeyError, match="'bad' has no cost"):
        ranking.pareto_frontier({"good": 1})
    with pytest.raises(KeyError, match="map was not compared; there are mrr"):
        ranking.pareto_frontier({"good": 1, "bad": 1}, "map")
    with pytest.raises(ValueError, match="only bad was compared with the others"):
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", baseline="bad").ranking.pareto_frontier(
            {"good": 1, "bad": 1}
        )
