"""How much differences vary, from the best that is known."""

import random

import numpy as np
import pytest

import retrieval_metrics as rm
from pilots import pilot
from retrieval_metrics.statistics import Units


def test_it_starts_from_the_best_that_is_known() -> None:
    compared = pilot()
    of_pilot = rm.plan(0.05, "mrr", pilot=compared)
    of_one = rm.plan(0.05, "mrr", pilot=compared.evaluations["a"])
    spread = float(compared.difference("mrr").values.std(ddof=1))

    assert of_pilot.scenarios[1].sd == pytest.approx(spread)
    assert of_pilot.scenarios[0].sd < spread < of_pilot.scenarios[2].sd
    assert rm.plan(0.05, "mrr", pilot=compared.difference("mrr")) == of_pilot
    values = list(compared.evaluations["a"].per_query["mrr"].values())
    assert of_one.scenarios[1].sd == pytest.approx(0.8 * np.std(values, ddof=1))
    assert "two public collections" in str(rm.plan(0.05, "rbp"))


def test_the_design_effect_is_that_of_the_pilot() -> None:
    alone = pilot(40)
    rng = random.Random(1)
    qrels = {f"q{number}.{part}": ["d"] for number in range(40) for part in range(3)}
    ranks = {(name, number): rng.randrange(5) for name in "ab" for number in range(40)}
    runs = {
        name: {
            query: [f"x{number}" for number in range(ranks[name, int(query.split(".")[0][1:])])] + ["d"]
            for query in qrels
        }
        for name in "ab"
    }
    together = rm.compare(qrels, runs, "mrr", clusters={query: query.split(".")[0] for query in qrels})

    assert rm.plan(0.05, "mrr", pilot=together).design_effect == pytest.approx(3, rel=0.05)
    assert rm.plan(0.05, "mrr", pilot=alone).design_effect == 1
    assert "a pilot of 120 queries in 40 clusters" in str(rm.plan(0.05, "mrr", pilot=together))


@pytest.mark.filterwarnings("ignore:only .* clusters:retrieval_metrics.RetrievalWarning")
def test_few_clusters_are_said_to_be_few_as_in_a_comparison() -> None:
    few_clusters = pilot(40, clusters={f"q{number}": number % 10 for number in range(40)})
    assert "in 10 clusters; only 10 clusters: CIs from fewer than 20 are approximate" in str(
        rm.plan(0.05, "mrr", pilot=few_clusters)
    )


def test_clusters_of_a_pilot_can_be_named_afterwards() -> None:
    named_pilot = pilot(40)
    by_two = {f"q{number}": number // 2 for number in range(40)}
    with_them = pilot(40, clusters=by_two)

    named = rm.plan(0.05, "mrr", pilot=named_pilot, clusters=by_two)
    assert named == rm.plan(0.05, "mrr", pilot=with_them)
    assert named == rm.plan(0.05, "mrr", pilot=named_pilot, clusters=lambda query: int(query[1:]) // 2)
    assert rm.plan(0.05, "mrr", pilot=with_them, clusters=None) == rm.plan(0.05, "mrr", pilot=named_pilot)
    evaluation = named_pilot.evaluations["a"]
    labels = [number // 2 for number in range(40)]
    values = np.array([evaluation.per_query["mrr"][query] for query in by_two])
    effect = max(Units.from_values(values, labels).design_effect, 1.0)
    assert rm.plan(0.05, "mrr", pilot=evaluation, clusters=by_two).design_effect == effect


def test_a_pilot_without_spread_is_refused() -> None:
    qrels = {f"q{number}": ["d"] for number in range(10)}
    constant = {query: ["d"] for query in qrels}
    with pytest.raises(ValueError, match="shows no spread: 10 queries, of which 0 differ"):
        rm.plan(0.1, "mrr", pilot=rm.compare(qrels, {"a": constant, "b": constant}, "mrr"))
    with pytest.raises(TypeError, match="must be a Comparison, a Difference or an Evaluation, got list"):
        rm.plan(0.1, "mrr", pilot=[0.1])  # type: ignore[arg-type]  # wrong on purpose
