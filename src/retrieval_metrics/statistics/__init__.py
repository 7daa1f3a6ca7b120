"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and is independent of metrics, runs and qrels.
scipy does the statistics. It is imported where it is called, so that importing the package does not load it.
"""

from retrieval_metrics.statistics.clusters import Units, effective_sums
from retrieval_metrics.statistics.difference_interval import difference_intervals, fewest_units
from retrieval_metrics.statistics.intervals import Interval, interval_from_sums, mean_interval
from retrieval_metrics.statistics.joint import JointTest, joint_sign_flips
from retrieval_metrics.statistics.margin import WithinMargin, fewest_for_margin, within_margins
from retrieval_metrics.statistics.paired import (
    PairedDifference,
    PairedDifferences,
    paired_difference,
    paired_differences,
)
from retrieval_metrics.statistics.power import QueriesNeeded, detectable_difference, queries_needed
from retrieval_metrics.statistics.sign_flip import SignFlip, sign_flip_test
from retrieval_metrics.statistics.sums import ExactSums, Sums

__all__ = [
    "ExactSums",
    "Interval",
    "JointTest",
    "PairedDifference",
    "PairedDifferences",
    "QueriesNeeded",
    "SignFlip",
    "Sums",
    "Units",
    "WithinMargin",
    "detectable_difference",
    "difference_intervals",
    "effective_sums",
    "fewest_for_margin",
    "fewest_units",
    "interval_from_sums",
    "joint_sign_flips",
    "mean_interval",
    "paired_difference",
    "paired_differences",
    "queries_needed",
    "sign_flip_test",
    "within_margins",
]
