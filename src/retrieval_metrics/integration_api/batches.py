"""For integrations that evaluate large data in blocks: columns, rows of results, and sums that are merged exactly."""

from retrieval_metrics._internal.validation import require_same_id_type
from retrieval_metrics.evaluation.counts import counts_in_means
from retrieval_metrics.evaluation.data_warning_wording import ID_MISMATCH_HINT, NOTHING_JUDGED_FOUND
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.evaluation.scores import COLUMNS, Column
from retrieval_metrics.files import trec_lines
from retrieval_metrics.files.formats import find_format_by_name
from retrieval_metrics.inputs.column_detection import JUDGMENT_ROLES, RUN_ROLES, find_columns, parse_allowances
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.inputs.frame_columns import is_dataframe
from retrieval_metrics.inputs.score_checks import MAX_CHECKED_ROWS as ROWS_FOR_DOUBT
from retrieval_metrics.inputs.score_checks import warn_about_score_direction
from retrieval_metrics.metrics.base.definition import divides_by_largest_grade, require_known_scale
from retrieval_metrics.metrics.base.metric import as_metrics
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.metrics.base.user_metrics import defined_metrics

__all__ = [
    "COLUMNS",
    "ID_MISMATCH_HINT",
    "JUDGMENT_ROLES",
    "NOTHING_JUDGED_FOUND",
    "ROWS_FOR_DOUBT",
    "RUN_ROLES",
    "Column",
    "LongTable",
    "as_metrics",
    "as_rules",
    "counts_in_means",
    "defined_metrics",
    "divides_by_largest_grade",
    "find_columns",
    "find_format_by_name",
    "is_dataframe",
    "parse_allowances",
    "require_known_scale",
    "require_same_id_type",
    "score_run",
    "system_wide_warnings",
    "trec_lines",
    "warn_about_score_direction",
]
