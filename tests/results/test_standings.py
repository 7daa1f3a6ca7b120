"""A ranking says who is best, and whom the data cannot tell from the best."""

from dataclasses import replace

import retrieval_metrics as rm

QRELS = {f"q{at}": ["d"] for at in range(40)}
BEST = {query: ["d"] for query in QRELS}
GOOD = {query: ["d"] if at % 20 else ["x", "d"] for at, query in enumerate(QRELS)}
BAD = {query: ["x", "y", "d"] for query in QRELS}
WORST = {query: ["x", "y", "z", "u", "d"] for query in QRELS}


def groups(comparison: rm.Comparison, metric: str = "mrr") -> list[tuple[str, int]]:
    return [(place.system, place.group) for place in comparison.ranking.places[metric]]


def test_systems_that_cannot_be_told_from_the_best_are_in_its_group() -> None:
    comparison = rm.compare(QRELS, {"worst": WORST, "bad": BAD, "good": GOOD, "best": BEST}, ["mrr", "recall@5"])
    assert groups(comparison) == [("best", 1), ("good", 1), ("bad", 2), ("worst", 3)]
    assert groups(comparison, "recall@5") == [("worst", 1), ("bad", 1), ("good", 1), ("best", 1)]
    assert comparison.ranking.best["mrr"] == ("best", "good")
    assert comparison.ranking.sentences == [
        "Best in mrr: best and good; the data cannot tell them apart.",
        "The data cannot tell any system from the best in recall@5.",
    ]


def test_beside_a_baseline_systems_are_better_not_told_apart_or_worse() -> None:
    runs = {"good": GOOD, "best": BEST, "bad": BAD, "same": BAD, "worst": WORST}
    comparison = rm.compare(QRELS, runs, "mrr", baseline="bad")
    assert groups(comparison) == [("best", 1), ("good", 1), ("bad", 2), ("same", 2), ("worst", 3)]
    assert comparison.ranking.sentences == [
        "Better than bad in mrr: best and good; they were not compared with each other."
    ]
    above = rm.compare(QRELS, runs, "mrr", baseline="best").ranking
    assert above.sentences == ["No system is shown to be better than best in mrr."]


def test_a_sentence_names_a_few_systems_of_many() -> None:
    runs = {"bad": BAD} | {f"good {at}": BEST for at in range(6)}
    (said,) = rm.compare(QRELS, runs, "mrr").ranking.sentences
    assert said.startswith("Best in mrr: good 0, good 1, good 2, good 3 and 2 more;")


def test_what_cannot_be_found_at_all_is_said_with_what_would_help() -> None:
    few = {query: QRELS[query] for query in list(QRELS)[:4]}
    runs = {f"s{at}": {query: (BEST if at % 2 else BAD)[query] for query in few} for at in range(6)}
    comparison = rm.compare(few, runs, ["mrr", "recall@2", "ndcg@10", "map"])
    assert "with 4 queries none of these 60 tests can succeed; one test alone needs 6" in str(comparison)
    ranking = replace(comparison.ranking, units=8, impossible=3)
    assert ranking.notes[0] == "with 8 queries 3 of these 60 tests cannot succeed; choose a baseline or fewer metrics"
    assert "choose fewer metrics" in replace(ranking, baseline="s0").notes[0]


def test_six_systems_and_four_metrics_print_on_one_screen_and_pairs_on_request() -> None:
    runs = {f"a system called {at}": (BEST, GOOD, BAD)[at % 3] for at in range(6)}
    comparison = rm.compare(QRELS, runs, ["mrr", "recall@2", "ndcg@10", "map"])
    lines = str(comparison).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 200
    assert f"1  1.0000 {'['}" in str(comparison)
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
