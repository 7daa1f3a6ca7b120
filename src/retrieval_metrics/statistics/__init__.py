"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and is independent of metrics, runs and qrels.
scipy does the statistics. It is imported where it is called, so that importing the package does not load it.
"""

from typing import TYPE_CHECKING

from retrieval_metrics.lazy import lazy

if TYPE_CHECKING:
    from retrieval_metrics.statistics.intervals import Interval, interval_from_sums, mean_interval
    from retrieval_metrics.statistics.multiple import holm, tukey_hsd
    from retrieval_metrics.statistics.paired import PairedDifference, paired_difference
    from retrieval_metrics.statistics.power import detectable_difference, queries_needed
    from retrieval_metrics.statistics.sign_flip import SignFlip, sign_flip_test
    from retrieval_metrics.statistics.sums import ExactSums, Sums

__all__ = [
    "ExactSums",
    "Interval",
    "PairedDifference",
    "SignFlip",
    "Sums",
    "detectable_difference",
    "holm",
    "interval_from_sums",
    "mean_interval",
    "paired_difference",
    "queries_needed",
    "sign_flip_test",
    "tukey_hsd",
]

if not TYPE_CHECKING:  # a type checker knows the names from above
    __getattr__ = lazy(
        __name__,
        {
            "Interval": "intervals",
            "interval_from_sums": "intervals",
            "mean_interval": "intervals",
            "holm": "multiple",
            "tukey_hsd": "multiple",
            "PairedDifference": "paired",
            "paired_difference": "paired",
            "detectable_difference": "power",
            "queries_needed": "power",
            "SignFlip": "sign_flip",
            "sign_flip_test": "sign_flip",
            "ExactSums": "sums",
            "Sums": "sums",
        },
    )
