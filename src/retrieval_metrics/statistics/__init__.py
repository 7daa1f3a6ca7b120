"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and is independent of metrics, runs and qrels.
scipy does the statistics. It is imported where it is called, so that importing the package does not load it.
"""

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
