"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere.

    >>> import retrieval_metrics as rm
    >>> result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, ["mrr", "ndcg@10"])
    >>> result.means["mrr"]
    0.5

Evaluate whole runs with `evaluate`, several systems with `compare`, one ranking given as gains with `ndcg`,
`reciprocal_rank` and their siblings.
"""

from typing import TYPE_CHECKING, Any

from retrieval_metrics import metrics
from retrieval_metrics.auditing.audit import Audit, audit
from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.questions import EvaluationSet
from retrieval_metrics.inputs.retrieve import RetrievedRun, aretrieve, retrieve
from retrieval_metrics.inputs.retrieved import Retrieved
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.judging.matching.budget import Budget
from retrieval_metrics.judging.matching.matching import Matching
from retrieval_metrics.metrics.average_precision import average_precision
from retrieval_metrics.metrics.bpref import bpref
from retrieval_metrics.metrics.dcg import dcg
from retrieval_metrics.metrics.err import err
from retrieval_metrics.metrics.f1 import f1
from retrieval_metrics.metrics.full_recall import full_recall
from retrieval_metrics.metrics.hit_rate import hit_rate
from retrieval_metrics.metrics.judged import judged
from retrieval_metrics.metrics.ndcg import ndcg
from retrieval_metrics.metrics.precision import precision
from retrieval_metrics.metrics.r_precision import r_precision
from retrieval_metrics.metrics.rbp import rbp
from retrieval_metrics.metrics.recall import recall
from retrieval_metrics.metrics.reciprocal_rank import reciprocal_rank
from retrieval_metrics.scoring.rules import Rules

if TYPE_CHECKING:
    from retrieval_metrics.comparing.compare import compare
    from retrieval_metrics.comparing.comparison import Comparison
    from retrieval_metrics.evaluation.merge import merge
    from retrieval_metrics.files.limits import Limits
    from retrieval_metrics.files.reading import read_qrels, read_run
    from retrieval_metrics.files.texts import read_corpus, read_queries
    from retrieval_metrics.files.writing import write_qrels, write_run
    from retrieval_metrics.inputs.sources import locate
    from retrieval_metrics.rechunking.match import Matches, match
    from retrieval_metrics.rechunking.relabel import Relabelling, relabel
    from retrieval_metrics.reranking.batch import mmr_batch
    from retrieval_metrics.reranking.diversity import intra_list_diversity
    from retrieval_metrics.reranking.mmr import mmr, mmr_from_similarity
    from retrieval_metrics.reranking.selection import Selection
    from retrieval_metrics.reranking.sweep import MMRSweep, mmr_sweep
    from retrieval_metrics.results.totals import Totals

__all__ = [
    "DEFAULT_METRICS",
    "Audit",
    "Budget",
    "Comparison",
    "Evaluation",
    "EvaluationSet",
    "Limits",
    "MMRSweep",
    "Matches",
    "Matching",
    "Metadata",
    "Metric",
    "Qrels",
    "Quote",
    "Relabelling",
    "RetrievalWarning",
    "Retrieved",
    "RetrievedRun",
    "Rules",
    "Run",
    "Selection",
    "Span",
    "Text",
    "Totals",
    "aretrieve",
    "audit",
    "average_precision",
    "bpref",
    "compare",
    "dcg",
    "err",
    "evaluate",
    "f1",
    "full_recall",
    "hit_rate",
    "intra_list_diversity",
    "judged",
    "locate",
    "match",
    "merge",
    "metrics",
    "mmr",
    "mmr_batch",
    "mmr_from_similarity",
    "mmr_sweep",
    "ndcg",
    "precision",
    "r_precision",
    "rbp",
    "read_corpus",
    "read_qrels",
    "read_queries",
    "read_run",
    "recall",
    "reciprocal_rank",
    "relabel",
    "retrieve",
    "write_qrels",
    "write_run",
]

# Names that are imported when they are first used, because not everybody reads files, compares or reranks.
_LAZY = {
    "Comparison": "comparing.comparison",
    "Limits": "files.limits",
    "MMRSweep": "reranking.sweep",
    "Matches": "rechunking.match",
    "Relabelling": "rechunking.relabel",
    "Selection": "reranking.selection",
    "Totals": "results.totals",
    "compare": "comparing.compare",
    "intra_list_diversity": "reranking.diversity",
    "locate": "inputs.sources",
    "match": "rechunking.match",
    "merge": "evaluation.merge",
    "mmr": "reranking.mmr",
    "mmr_batch": "reranking.batch",
    "mmr_from_similarity": "reranking.mmr",
    "mmr_sweep": "reranking.sweep",
    "read_corpus": "files.texts",
    "read_qrels": "files.reading",
    "read_queries": "files.texts",
    "read_run": "files.reading",
    "relabel": "rechunking.relabel",
    "write_qrels": "files.writing",
    "write_run": "files.writing",
}


if not TYPE_CHECKING:  # a type checker knows the names from above, and finds those that are wrong

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415  (only where something is lazy)

        value = globals()[name] = getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
        return value


def __dir__() -> list[str]:
    return __all__
