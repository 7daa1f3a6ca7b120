"""For integrations that test new evaluations against those that they saved in files."""

from retrieval_metrics.evaluation.data_warnings import (
    find_data_warnings,
    find_near_misses_note,
    find_query_near_misses_note,
    find_system_wide_warnings,
)
from retrieval_metrics.evaluation.mean_limits import check_ceiling
from retrieval_metrics.evaluation.score_fingerprints import evaluation_set_fingerprint
from retrieval_metrics.evaluation.summary_wording import depth_notes
from retrieval_metrics.evaluation.useful_bounds import require_useful_bound
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.statistics.difference_intervals import min_significant_units

__all__ = [
    "check_ceiling",
    "depth_notes",
    "evaluation_set_fingerprint",
    "find_data_warnings",
    "find_near_misses_note",
    "find_query_near_misses_note",
    "find_system_wide_warnings",
    "min_significant_units",
    "require_useful_bound",
    "with_source_texts",
]
