"""For integrations that evaluate large data in blocks: columns, rows of results, and sums that are merged exactly."""

from retrieval_metrics._internal.validation import same_kind
from retrieval_metrics.evaluation.counts import NOTHING_FOUND, OTHER_IDS, enters_means
from retrieval_metrics.evaluation.data_warnings import said_of_systems
from retrieval_metrics.evaluation.evaluate import scored_run
from retrieval_metrics.evaluation.scores import COLUMNS, Column
from retrieval_metrics.files import trec
from retrieval_metrics.files.formats import format_by_name
from retrieval_metrics.inputs.column_detection import (
    OF_A_RUN,
    OF_JUDGMENTS,
    allowances,
    find_columns,
    is_frame,
    warn_of_doubt,
)
from retrieval_metrics.inputs.column_detection import ROWS as ROWS_FOR_DOUBT
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.metrics.base.definition import divides_by_largest_grade, refuse_unknown_scale
from retrieval_metrics.metrics.base.metric import as_metrics
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.metrics.base.user_metrics import defined_metrics

__all__ = [
    "COLUMNS",
    "NOTHING_FOUND",
    "OF_A_RUN",
    "OF_JUDGMENTS",
    "OTHER_IDS",
    "ROWS_FOR_DOUBT",
    "Column",
    "LongTable",
    "allowances",
    "as_metrics",
    "as_rules",
    "defined_metrics",
    "divides_by_largest_grade",
    "enters_means",
    "find_columns",
    "format_by_name",
    "is_frame",
    "refuse_unknown_scale",
    "said_of_systems",
    "same_kind",
    "scored_run",
    "trec",
    "warn_of_doubt",
]
