"""How sure a mean is, which of several systems is better, and what an evaluation set is able to tell.

Everything here works on plain arrays of per-query values and knows nothing of metrics, runs or qrels.
scipy does the statistics and is imported where it is called, so that importing the package does not pay for it.
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
