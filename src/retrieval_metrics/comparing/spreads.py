"""How much the per-query differences of two retrievers usually vary, by metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from retrieval_metrics.scoring.metric import Metric


class Spread(NamedTuple):
    """Standard deviations of per-query differences.

    Attributes:
        least: Of the most similar pair of systems.
        usual: Of the median pair.
        most: Of the pair that differs most.
    """

    least: float
    usual: float
    most: float


# tests/benchmarks/spreads.py measures them: Cranfield (225 questions; BM25, TF-IDF, embeddings, two fusions) and
# Chroma's chunking evaluation (472 questions; BM25 over three sizes of chunks), 13 pairs.
SPREADS = {
    "hit_rate": Spread(0.27, 0.39, 0.54),
    "full_recall": Spread(0.13, 0.22, 0.50),
    "precision": Spread(0.07, 0.17, 0.23),
    "recall": Spread(0.15, 0.19, 0.43),
    "mrr": Spread(0.29, 0.35, 0.46),
    "map": Spread(0.11, 0.15, 0.37),
    "ndcg": Spread(0.14, 0.20, 0.37),
}
OF_ANY = Spread(min(each.least for each in SPREADS.values()), 0.3, max(each.most for each in SPREADS.values()))
"""For a metric that was not measured: from the least to the most of all, and what is usual for binary ones."""

OF_VALUES = Spread(0.5, 0.8, 1.2)
"""The spread of differences, in standard deviations of one system's values: the same pairs, all metrics together."""


def usual_spread(metric: Metric) -> Spread:
    """Return how much differences in a metric usually vary."""
    return SPREADS.get(metric.name, OF_ANY)
