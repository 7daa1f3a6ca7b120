"""The sentences and notes about a ranking of systems."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from ranked_systems import systems
from retrieval_metrics.comparison.system_ranking import SystemRanking

GOLDEN = Path(__file__).parent / "golden" / "ranking_wording.txt"
RANKS = {"old": [1, 2, 3, 1] * 50, "same": [1, 2, 3, 1] * 50, "bad": [5] * 200, "other": [1, 2, 3, 2] * 50}


def rank(ranks: dict[str, list[int]], metrics: str | list[str] = "mrr", **options: Any) -> SystemRanking:
    return rm.compare(*systems(ranks), metrics, **options).ranking


def rank_timed_systems() -> SystemRanking:
    qrels, runs = systems({"quick": [3] * 12, "slow": [1] * 12, "slower": [1] * 12})
    timed = {}
    for number, (system, run) in enumerate(runs.items()):
        timed[system] = rm.RetrievedRun(run)
        timed[system].seconds = dict.fromkeys(qrels, 0.25 * (number + 1))
    return rm.compare(qrels, timed, ["mrr", "map"]).ranking


def make_rankings() -> dict[str, SystemRanking]:
    few_metrics = rank(
        {f"s{number}": [1 + number % 2] * 4 for number in range(6)}, ["mrr", "recall@1", "ndcg@10", "map"]
    )
    many = replace(few_metrics, n_units=8, n_unattainable=3)
    return {
        "beside a baseline": rank(RANKS, baseline="old"),
        "beside the best": rank(RANKS),
        "margin": rank(RANKS, baseline="old", margin=0.02),
        "margin in two metrics": rank(RANKS, ["mrr", "map"], baseline="old", margin=0.02),
        "margin that is not shown": rank({"old": [1] * 30, "new": [1] * 30}, baseline="old", margin=0.02),
        "no test can succeed": few_metrics,
        "some tests can hardly succeed": many,
        "all tests can hardly succeed": replace(few_metrics, n_units=8, n_unattainable=few_metrics.tests),
        "with a baseline, fewer metrics would help": replace(many, baseline="s0"),
        "the only test cannot succeed": rank({"a": [1] * 4, "b": [2] * 4}),
        "so few clusters": rank({"a": [1] * 12, "b": [2] * 12}, clusters=lambda query: int(query[1:]) % 4),
        "seconds": rank_timed_systems(),
        "one system is undetermined": rank({"a": [1] * 8, "b": [2] * 8}, ["mrr", "judged@3"]),
    }


@pytest.mark.filterwarnings("ignore:only 4 clusters")
def test_the_texts_are_those_of_the_golden_file() -> None:
    texts = {}
    for case, ranking in make_rankings().items():
        texts[case] = ["notes:", *ranking.notes, "sentences:", *ranking.sentences]
    check_golden_texts(GOLDEN, texts)


def test_without_a_margin_nothing_is_said_about_one() -> None:
    assert not any("by more than" in sentence for sentence in rank(RANKS, baseline="old").sentences)
