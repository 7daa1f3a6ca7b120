"""Blocks of documents with equal scores."""

from itertools import combinations

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import ScoreOrder
from retrieval_metrics.metrics.ties.tie_blocks import average_by_block, blocks_of, hit_probability
from retrieval_metrics.metrics.ties.tie_orders import score_over_orders

QRELS = rm.Qrels({"q": {"a": 1, "b": 2, "c": 0}, "untied": {"a": 1}})
RUN = {"q": {"x": 3.0, "a": 2.0, "b": 2.0, "y": 2.0, "c": 1.0}, "untied": {"a": 1.0}}


def test_the_judged_blocks_of_queries_with_ties_are_listed_top_first() -> None:
    judged = judge(QRELS, RUN, "id", ScoreOrder("expected"))
    joined = judged.with_items(judged.items._replace(rank=judged.items.tied_from))
    ((query, blocks),) = blocks_of(joined, None)
    assert query == 0
    assert [(block.n_above, block.size, block.n_relevant) for block in blocks] == [(1, 3, 2), (4, 1, 0)]
    assert [blocks[0].within(k) for k in (None, 1, 2, 9)] == [3, 0, 1, 3]
    assert average_by_block(joined, None, lambda _, listed: float(len(listed))).tolist() == [2, 0]


def test_a_closed_form_is_used_over_the_orders() -> None:
    judged = judge(QRELS, RUN, "id", ScoreOrder("expected"))
    values = score_over_orders(judged, judged.tied_queries(), rm.Metric("hit_rate", 2), {})
    assert values.mean[0] == pytest.approx(2 / 3)
    assert (values.lowest[0], values.highest[0]) == (0, 1)


def test_the_probability_of_hits_is_the_share_of_draws() -> None:
    draws = list(combinations([1, 1, 0, 0, 0], 3))
    for n_hits in range(5):
        share = sum(sum(draw) == n_hits for draw in draws) / len(draws)
        assert hit_probability(5, 2, 3, n_hits) == pytest.approx(share)
