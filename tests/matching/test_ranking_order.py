"""Judging a ranking and listing it use the same order."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN, TIES_BY_ID, ScoreOrder, rank_ids

SCORES = [0.0, -0.0, 1.0, 1, True, 0.1 + 0.2, 0.3, 2**53, 2**53 + 1, -(2**60), -(2**60) + 1]


@pytest.mark.parametrize("order", [TIES_BY_ID, TIES_AS_GIVEN], ids=str)
@pytest.mark.parametrize("ids", ["text", "numbers"])
def test_a_ranking_is_listed_in_the_order_in_which_it_is_judged(order: ScoreOrder, ids: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        names: list[Any] = [int(name) if ids == "numbers" else str(name) for name in rng.permutation(12)[:9]]
        scores = {
            name: SCORES[position]
            for name, position in zip(names, rng.integers(len(SCORES), size=len(names)), strict=True)
        }
        listed = rank_ids(scores, order)
        qrels = rm.Qrels({"q": dict.fromkeys(names, 1)})
        items = judge(qrels, {"q": scores}, "id", order).items
        assert [qrels.documents[position] for position in items.document] == listed
        assert items.rank.tolist() == list(range(1, len(names) + 1))


def test_the_columns_of_a_run_have_the_same_order() -> None:
    rng = np.random.default_rng(8)
    for _ in range(100):
        names = [str(name) for name in rng.permutation(12)]
        scores = {name: float(rng.integers(3)) for name in names}
        run = rm.Run.from_frame({"query": ["q"] * 12, "document": names, "score": list(scores.values())})
        qrels = rm.Qrels({"q": dict.fromkeys(names, 1)})
        assert [
            qrels.documents[position] for position in judge(qrels, run, "id", TIES_BY_ID).items.document
        ] == rank_ids(scores, TIES_BY_ID)
