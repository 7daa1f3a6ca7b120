"""The interface for integrations, which import nothing else of the core but the top level and its types.

An integration converts the objects of its host into `rm.Retrieved`, calls the core, and returns the host's types. It
registers a `Host`, so the core and the other integrations accept the retrievers, documents and models of that host too.
`Scorer` and `RowScorer` score what was retrieved where the host wants values query by query. What only some need is in
`distributed` (data too large for one machine) and `printing` (tables and files).
"""

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.definition.plain_name import plain_name, scored_name
from retrieval_metrics.definition.table import DEFINITIONS
from retrieval_metrics.evaluation.asked_questions import Asked
from retrieval_metrics.evaluation.scorer import RowScorer, Scorer, row_error
from retrieval_metrics.inputs.entries import judgments_of
from retrieval_metrics.inputs.host_rows import check_path, items_in, part_of
from retrieval_metrics.inputs.hosts import Host, host_of
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.questions import QUERY_KEYS
from retrieval_metrics.judging.matching.matching import as_matching
from retrieval_metrics.judging.with_documents import with_documents
from retrieval_metrics.keeping.identity import questions_fingerprint
from retrieval_metrics.reranking.scaling import by_rank, scaled
from retrieval_metrics.retrieving.event_loop import run_until_complete
from retrieval_metrics.retrieving.retrieve import WORKERS
from retrieval_metrics.retrieving.ways import first_way
from retrieval_metrics.scoring.rules import as_rules
from retrieval_metrics.signatures import arguments_of, passed_on
from retrieval_metrics.trajectories.traces.read import seen_in_trace
from retrieval_metrics.trajectories.traces.recording import Recording
from retrieval_metrics.trajectories.views import check_calls, seen_in

__all__ = [
    "DEFINITIONS",
    "QUERY_KEYS",
    "WORKERS",
    "Asked",
    "Host",
    "Recording",
    "RowScorer",
    "Scorer",
    "arguments_of",
    "as_matching",
    "as_qrels",
    "as_rules",
    "by_rank",
    "check_calls",
    "check_path",
    "clusters_of",
    "first_way",
    "host_of",
    "items_in",
    "judgments_of",
    "part_of",
    "passed_on",
    "plain_name",
    "positive_integer",
    "questions_fingerprint",
    "row_error",
    "run_until_complete",
    "scaled",
    "scored_name",
    "seen_in",
    "seen_in_trace",
    "with_documents",
]
