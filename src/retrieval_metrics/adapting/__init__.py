"""The interface for integrations, which import nothing else of the core but the top level and its types.

An integration converts the objects of its host into `rm.Retrieved`, calls the core, and returns the host's types. It
registers a `Host`, so the core and the other integrations accept the retrievers, documents and models of that host too.
`Asked` evaluates a retriever that a function of the integration asks; `Scorer` and `RowScorer` score what was retrieved
where the host wants values query by query. What only some need stands apart: `twins` (functions with an asynchronous
form), `printing` (tables and files), `gating` (tests against saved evaluations) and `distributed` (data too large for
one machine).
"""

from retrieval_metrics.definition.scored_name import scored_name
from retrieval_metrics.definition.table import DEFINITIONS
from retrieval_metrics.evaluation.asked_questions import Asked
from retrieval_metrics.evaluation.scorer import RowScorer, Scorer, row_error
from retrieval_metrics.inputs.hosts import Host, host_of
from retrieval_metrics.reranking.scaling import relevance_by
from retrieval_metrics.retrieving.ways import Ways
from retrieval_metrics.trajectories.row_paths import RowPaths
from retrieval_metrics.trajectories.traces.recording import Recording

__all__ = [
    "DEFINITIONS",
    "Asked",
    "Host",
    "Recording",
    "RowPaths",
    "RowScorer",
    "Scorer",
    "Ways",
    "host_of",
    "relevance_by",
    "row_error",
    "scored_name",
]
