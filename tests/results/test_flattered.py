"""What the best of several systems is worth on new questions."""

import random

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.results.conclusions import flattered


def compared(systems: int, metrics: str | list[str] = "mrr", count: int = 40) -> rm.Comparison:
    rng = random.Random(1)
    qrels = {f"q{at}": ["d"] for at in range(count)}
    runs = {
        f"s{number}": {query: [f"x{at}" for at in range(rng.randrange(6))] + ["d"] for query in qrels}
        for number in range(systems)
    }
    return rm.compare(qrels, runs, metrics)


def test_equal_systems_are_worth_less_than_the_mean_of_the_luckiest() -> None:
    draws = np.random.default_rng(0)
    own, worth = [], []
    for _ in range(60):
        best = flattered("ndcg", list("abcdefgh"), draws.normal(0.5, 0.25, (8, 40)), 1, None)
        assert best is not None
        own.append(best.mean - 0.5)
        worth.append(best.worth - 0.5)

    assert np.mean(own) > 0.04
    assert abs(np.mean(worth)) < 0.015


def test_where_lower_is_better_the_best_is_worth_more() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.25, (8, 40))
    best, lowest = (
        flattered("ndcg", list("abcdefgh"), each, sign, None) for each, sign in ((values, 1), (-values, -1))
    )
    assert best is not None
    assert lowest is not None
    assert (lowest.system, lowest.mean, lowest.worth) == (best.system, -best.mean, -best.worth)


def test_a_clear_winner_is_not_flattered_and_nothing_is_said() -> None:
    values = np.full((6, 30), 0.3)
    values[2] = 0.8
    best = flattered("ndcg", list("abcdef"), values, 1, None)
    assert best is not None
    assert best.system == "c"
    assert best.mean == pytest.approx(0.8)
    assert best.worth == pytest.approx(0.8)


def test_from_five_systems_on_the_ranking_and_the_conclusions_say_so() -> None:
    several = compared(6, ["mrr", "ndcg@10"])
    one = several.flattered["mrr"]

    assert one.mean == several.table["mrr"][one.system] == max(several.table["mrr"].values())
    assert one.worth < one.mean
    (said,) = several.conclusions.flattery
    assert said.startswith(
        f"The best of 6 systems is flattered by the choice: on new questions, expect about {one.worth:.3f}"
    )
    assert said in str(several)
    assert said in str(several.conclusions)
    assert said.split(":")[0] in several._repr_html_()
    assert not compared(4).flattered
    assert compared(4).conclusions.flattery == []


def test_clusters_are_left_out_whole() -> None:
    values = np.random.default_rng(2).normal(0.5, 0.25, (6, 10)).repeat(4, axis=1)
    labels = np.arange(10).repeat(4)
    together = flattered("ndcg", list("abcdef"), values, 1, labels)
    alone = flattered("ndcg", list("abcdef"), values[:, ::4], 1, None)
    assert together is not None
    assert alone is not None
    assert together.worth == pytest.approx(alone.worth)
