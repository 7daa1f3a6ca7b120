"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and does not depend on metrics, runs or qrels.
scipy does the statistics. It is imported where it is called, so that importing the package does not load it.
"""

from typing import TYPE_CHECKING

from retrieval_metrics.lazy import lazy

if TYPE_CHECKING:
    from retrieval_metrics.statistics.agreement import Agreed, cohens_kappa, jackknifed, share_alike
    from retrieval_metrics.statistics.clusters import Units, effective_sums
    from retrieval_metrics.statistics.corrected import CorrectedMean
    from retrieval_metrics.statistics.correcting import corrected_mean
    from retrieval_metrics.statistics.interval_of_difference import (
        RareChange,
        difference_interval,
        fewest_units,
        level_of_critical,
        rare_change,
        students_critical,
    )
    from retrieval_metrics.statistics.intervals import Interval, interval_from_sums, mean_interval
    from retrieval_metrics.statistics.joint import Contrasts, JointTest, joint_sign_flips
    from retrieval_metrics.statistics.margin import WithinMargin, fewest_for_margin, within_margins
    from retrieval_metrics.statistics.paired import (
        PairedDifference,
        PairedDifferences,
        paired_difference,
        paired_differences,
    )
    from retrieval_metrics.statistics.power import Detectable, QueriesNeeded, detectable_difference, queries_needed
    from retrieval_metrics.statistics.sign_flip import SignFlip, sign_flip_test
    from retrieval_metrics.statistics.spending import spending_levels
    from retrieval_metrics.statistics.sums import ExactSums, Sums

__all__ = [
    "Agreed",
    "Contrasts",
    "CorrectedMean",
    "Detectable",
    "ExactSums",
    "Interval",
    "JointTest",
    "PairedDifference",
    "PairedDifferences",
    "QueriesNeeded",
    "RareChange",
    "SignFlip",
    "Sums",
    "Units",
    "WithinMargin",
    "cohens_kappa",
    "corrected_mean",
    "detectable_difference",
    "difference_interval",
    "effective_sums",
    "fewest_for_margin",
    "fewest_units",
    "interval_from_sums",
    "jackknifed",
    "joint_sign_flips",
    "level_of_critical",
    "mean_interval",
    "paired_difference",
    "paired_differences",
    "queries_needed",
    "rare_change",
    "share_alike",
    "sign_flip_test",
    "spending_levels",
    "students_critical",
    "within_margins",
]

if not TYPE_CHECKING:  # a type checker knows the names from above
    __getattr__ = lazy(
        __name__,
        {
            "Agreed": "agreement",
            "cohens_kappa": "agreement",
            "jackknifed": "agreement",
            "share_alike": "agreement",
            "Units": "clusters",
            "effective_sums": "clusters",
            "CorrectedMean": "corrected",
            "corrected_mean": "correcting",
            "RareChange": "interval_of_difference",
            "difference_interval": "interval_of_difference",
            "fewest_units": "interval_of_difference",
            "level_of_critical": "interval_of_difference",
            "rare_change": "interval_of_difference",
            "students_critical": "interval_of_difference",
            "Interval": "intervals",
            "interval_from_sums": "intervals",
            "mean_interval": "intervals",
            "Contrasts": "joint",
            "JointTest": "joint",
            "joint_sign_flips": "joint",
            "WithinMargin": "margin",
            "fewest_for_margin": "margin",
            "within_margins": "margin",
            "PairedDifference": "paired",
            "PairedDifferences": "paired",
            "paired_difference": "paired",
            "paired_differences": "paired",
            "Detectable": "power",
            "QueriesNeeded": "power",
            "detectable_difference": "power",
            "queries_needed": "power",
            "SignFlip": "sign_flip",
            "sign_flip_test": "sign_flip",
            "spending_levels": "spending",
            "ExactSums": "sums",
            "Sums": "sums",
        },
    )
