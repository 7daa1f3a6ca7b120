"""The interface for integrations: the only module of the core that they import beside the top level.

An integration converts the objects of its host into `rm.Retrieved`, calls the core, and returns the host's types. It
registers a `Host`, so the core and the other integrations accept the retrievers, documents and models of that host too.
"""

from typing import TYPE_CHECKING

from retrieval_metrics.aliases import DocumentId, QueryId
from retrieval_metrics.checks import positive_integer, same_kind
from retrieval_metrics.definition.define import defined_metrics
from retrieval_metrics.definition.definition import ParameterValue
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
from retrieval_metrics.inputs.hosts import GROUP, Host, host_of, installed_hosts
from retrieval_metrics.inputs.pieces import Piece
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.questions import QUERY_KEYS
from retrieval_metrics.inputs.shapes import Judgments, QrelsMapping, Ranking
from retrieval_metrics.judging.matching.matching import as_matching
from retrieval_metrics.judging.with_documents import with_documents
from retrieval_metrics.keeping.identity import questions_fingerprint
from retrieval_metrics.presentation import numbers, page, tables
from retrieval_metrics.reranking.scaling import by_rank, scaled
from retrieval_metrics.results.counts import NOTHING_FOUND, OTHER_IDS, Counts, enters_means
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.results.query_scores import QueryScore, query_scores
from retrieval_metrics.results.scores import COLUMNS, Column, Scores
from retrieval_metrics.retrieving.event_loop import run_until_complete
from retrieval_metrics.retrieving.judgeable import Judgeable
from retrieval_metrics.retrieving.retrieve import WORKERS
from retrieval_metrics.saving import save_text
from retrieval_metrics.scoring.rules import as_rules
from retrieval_metrics.statistics import ExactSums
from retrieval_metrics.trajectories.traces.read import trajectory_in
from retrieval_metrics.trajectories.traces.recording import Recording
from retrieval_metrics.trajectories.views import CallsView, Seen, check_calls, seen_in
from retrieval_metrics.tuning.tuning import Tuning

if TYPE_CHECKING:  # these exist only for type checkers, so __all__ cannot name them
    from retrieval_metrics.aliases import BoolArray as BoolArray  # noqa: PLC0414  (likewise)
    from retrieval_metrics.aliases import FloatArray as FloatArray  # noqa: PLC0414  (likewise)
    from retrieval_metrics.inputs.question_clusters import ClustersBy as ClustersBy  # noqa: PLC0414  (likewise)
    from retrieval_metrics.judging.matching.matching import Key as Key  # noqa: PLC0414  (exported by this form)
    from retrieval_metrics.judging.matching.matching import MatchBy as MatchBy  # noqa: PLC0414  (likewise)

__all__ = [
    "COLUMNS",
    "DEFINITIONS",
    "GROUP",
    "NOTHING_FOUND",
    "OF_JUDGMENTS",
    "OTHER_IDS",
    "QUERY_KEYS",
    "WORKERS",
    "CallsView",
    "Column",
    "Counts",
    "Difference",
    "DocumentId",
    "ExactSums",
    "Host",
    "Judgeable",
    "Judgments",
    "ParameterValue",
    "Piece",
    "QrelsMapping",
    "QueryId",
    "QueryScore",
    "Ranking",
    "Recording",
    "Scores",
    "Seen",
    "Tuning",
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
    "installed_hosts",
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
    "seen_in",
    "tables",
    "trajectory_in",
    "trec",
    "with_documents",
]
