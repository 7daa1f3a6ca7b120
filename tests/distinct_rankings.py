"""Rankings of few documents, drawn at random, as they are compared without judgments."""

import random
from itertools import permutations, product
from typing import Any

from retrieval_metrics.comparison.distinct_ranking import DistinctRanking, make_distinct_ranking
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings


def as_distinct(ranking: Any) -> DistinctRanking:
    return make_distinct_ranking(OrderedRankings({}, "id", TIES_BY_ID), ranking, "q")


def draw_ranking(rng: random.Random, n_documents: int, max_length: int, *, is_tied: bool) -> Any:
    documents = rng.sample([f"d{number}" for number in range(n_documents)], rng.randint(0, max_length))
    if not is_tied:
        return documents
    return {document: float(rng.choice([1, 2, 3])) for document in documents}


def list_orders(ranking: dict[str, float]) -> list[list[str]]:
    """Return every order of a ranking with ties."""
    levels = []
    for score in sorted({*ranking.values()}, reverse=True):
        levels.append([document for document in ranking if ranking[document] == score])
    orders = []
    for level_orders in product(*(permutations(level) for level in levels)):
        order: list[str] = []
        for level_order in level_orders:
            order += level_order
        orders.append(order)
    return orders
