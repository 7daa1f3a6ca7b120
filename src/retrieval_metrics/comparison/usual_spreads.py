"""Hold the spreads of per-query differences that were measured on public collections, by metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from retrieval_metrics.metrics.base.metric import Metric


class SpreadRange(NamedTuple):
    """Standard deviations of per-query differences.

    Attributes:
        smallest: Of the most similar pair of systems.
        usual: Of the median pair.
        largest: Of the pair that differs most.
    """

    smallest: float
    usual: float
    largest: float


# Measured by tests/benchmarks/spreads.py: Cranfield (225 questions; BM25, TF-IDF, embeddings, two fusions) and
# Chroma's chunking evaluation (472 questions; BM25 over three sizes of chunks), 13 pairs.
MEASURED_SPREADS = {
    "hit_rate": SpreadRange(0.27, 0.39, 0.54),
    "full_recall": SpreadRange(0.13, 0.22, 0.50),
    "precision": SpreadRange(0.07, 0.17, 0.23),
    "recall": SpreadRange(0.15, 0.19, 0.43),
    "mrr": SpreadRange(0.29, 0.35, 0.46),
    "map": SpreadRange(0.11, 0.15, 0.37),
    "ndcg": SpreadRange(0.14, 0.20, 0.37),
}
# For a metric that was not measured: the smallest and the largest of all, and the usual spread of a binary metric.
SPREADS_OF_OTHERS = SpreadRange(
    smallest=min(spread.smallest for spread in MEASURED_SPREADS.values()),
    usual=0.3,
    largest=max(spread.largest for spread in MEASURED_SPREADS.values()),
)
# Times the standard deviation of one system's values, this is the spread of differences in the same pairs, over all
# metrics together.
FACTORS_OF_VALUES = SpreadRange(0.5, 0.8, 1.2)


def find_usual_spread(metric: Metric) -> SpreadRange:
    """Return how much differences in a metric usually vary."""
    return MEASURED_SPREADS.get(metric.name, SPREADS_OF_OTHERS)
