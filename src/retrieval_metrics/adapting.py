"""The interface for integrations: the only module of the core that they import beside the top level.

An integration converts the objects of its host into `rm.Retrieved`, calls the core, and returns the host's types. It
registers a `Host`, so the core and the other integrations accept the retrievers, documents and models of that host too.
"""

from retrieval_metrics.checks import positive_integer, same_kind
from retrieval_metrics.definition.define import defined_metrics
from retrieval_metrics.definition.largest_grade import divides_by_largest_grade
from retrieval_metrics.definition.metric import as_metrics
from retrieval_metrics.definition.plain_name import plain_name, scored_name
from retrieval_metrics.definition.table import DEFINITIONS
from retrieval_metrics.evaluation.first_answer import first_answer_check
from retrieval_metrics.evaluation.row_scores import check_row_metrics, row_error, score_row
from retrieval_metrics.evaluation.scored_run import score_queries, scored_run
from retrieval_metrics.files import trec
from retrieval_metrics.files.formats import format_by_name
from retrieval_metrics.inputs.columns import OF_JUDGMENTS, allowances, find_columns
from retrieval_metrics.inputs.entries import judgments_of
from retrieval_metrics.inputs.frame_columns import is_frame
from retrieval_metrics.inputs.frames import qrels_batch, run_batch
from retrieval_metrics.inputs.host_rows import check_path, items_in, part_of
from retrieval_metrics.inputs.hosts import Host, host_of
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.questions import QUERY_KEYS
from retrieval_metrics.judging.matching.matching import as_matching
from retrieval_metrics.judging.with_documents import with_documents
from retrieval_metrics.keeping.identity import questions_fingerprint
from retrieval_metrics.presentation import numbers, page, tables
from retrieval_metrics.reranking.scaling import by_rank, scaled
from retrieval_metrics.results.counts import NOTHING_FOUND, OTHER_IDS, enters_means
from retrieval_metrics.results.query_scores import query_scores
from retrieval_metrics.results.scores import COLUMNS, Column
from retrieval_metrics.retrieving.event_loop import run_until_complete
from retrieval_metrics.retrieving.retrieve import WORKERS
from retrieval_metrics.saving import save_text
from retrieval_metrics.scoring.rules import as_rules
from retrieval_metrics.statistics import ExactSums
from retrieval_metrics.trajectories.traces.read import searches_in
from retrieval_metrics.trajectories.traces.recording import Recording
from retrieval_metrics.trajectories.views import check_calls, seen_in

__all__ = [
    "COLUMNS",
    "DEFINITIONS",
    "NOTHING_FOUND",
    "OF_JUDGMENTS",
    "OTHER_IDS",
    "QUERY_KEYS",
    "WORKERS",
    "Column",
    "ExactSums",
    "Host",
    "Recording",
    "allowances",
    "as_matching",
    "as_metrics",
    "as_qrels",
    "as_rules",
    "by_rank",
    "check_calls",
    "check_path",
    "check_row_metrics",
    "clusters_of",
    "defined_metrics",
    "divides_by_largest_grade",
    "enters_means",
    "find_columns",
    "first_answer_check",
    "format_by_name",
    "host_of",
    "is_frame",
    "items_in",
    "judgments_of",
    "numbers",
    "page",
    "part_of",
    "plain_name",
    "positive_integer",
    "qrels_batch",
    "query_scores",
    "questions_fingerprint",
    "row_error",
    "run_batch",
    "run_until_complete",
    "same_kind",
    "save_text",
    "scaled",
    "score_queries",
    "score_row",
    "scored_name",
    "scored_run",
    "searches_in",
    "seen_in",
    "tables",
    "trec",
    "with_documents",
]
