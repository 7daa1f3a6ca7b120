"""The bounds of metrics against brute force: every judgment."""

import random
from itertools import product

import numpy as np
import pytest

import retrieval_metrics as rm
from distinct_rankings import as_distinct
from retrieval_metrics.comparison.change_bounds import bound_change, document_weights

METRICS = ["ndcg@3", "precision@3", "mrr@3", "recall@3", "hit_rate@3"]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_the_extremes_over_every_judgment_and_attained(seed: int) -> None:
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(chance.choice([4, 5]))]
    before, after = (chance.sample(documents, chance.randint(1, 4)) for _ in range(2))
    everything = [*documents, "unseen"]
    judgments = [dict(zip(everything, chosen, strict=True)) for chosen in product((0, 1, 3), repeat=len(everything))]
    qrels = {number: grades for number, grades in enumerate(judgments) if any(grades.values())}
    values = [
        rm.evaluate(qrels, dict.fromkeys(qrels, ranking), METRICS, clusters=None).per_query
        for ranking in (before, after)
    ]
    for name in METRICS:
        moved = np.array([values[1][name][query] - values[0][name][query] for query in qrels])
        loss, gain = bound_change(as_distinct(before), as_distinct(after), name.partition("@")[0], 3)
        assert (loss, gain) == pytest.approx((max(0, -moved.min()), max(0, moved.max())), abs=1e-12)


def test_what_a_place_is_worth() -> None:
    assert document_weights(["a", "b", "c"], "mrr", 2) == {"a": 1.0, "b": 0.5}
    assert document_weights(["a", "b"], "precision", 4) == {"a": 0.25, "b": 0.25}
    assert document_weights(["a"], "recall", 4) == {"a": 1.0}
    assert document_weights(["a", "b", "c"], "ndcg", None)["c"] == 0.5  # 1 / log2(4)
