"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere.

    >>> import retrieval_metrics as rm
    >>> result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, ["mrr", "ndcg@10"])
    >>> result.means["mrr"]
    0.5

`evaluate` evaluates a run, `compare` several systems. `ndcg`, `reciprocal_rank` and their siblings score one ranking
given as gains; the rarer ones are in `metrics`. What functions return, and nobody makes, is in `types`.
"""

from typing import TYPE_CHECKING

from retrieval_metrics import metrics, types
from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.matching.budget import Budget
from retrieval_metrics.lazy import lazy
from retrieval_metrics.metrics import (
    average_precision,
    f1,
    hit_rate,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from retrieval_metrics.scoring.rules import Rules

if TYPE_CHECKING:
    from retrieval_metrics.auditing.audit import audit
    from retrieval_metrics.comparing.compare import compare
    from retrieval_metrics.comparing.compare_retrievers import acompare_retrievers, compare_retrievers
    from retrieval_metrics.comparing.comparison import Comparison
    from retrieval_metrics.comparing.plan import plan
    from retrieval_metrics.definition.define import define_metric
    from retrieval_metrics.evaluation.evaluate import evaluate
    from retrieval_metrics.evaluation.evaluate_ranking import evaluate_ranking
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.evaluation.merge import merge
    from retrieval_metrics.files.limits import Limits
    from retrieval_metrics.files.reading import read_qrels, read_run
    from retrieval_metrics.files.text_files import read_corpus, read_queries
    from retrieval_metrics.files.writing import write_qrels, write_run
    from retrieval_metrics.fusing.fuse import fuse
    from retrieval_metrics.history.history import History
    from retrieval_metrics.inputs.provenance import Provenance
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.inputs.sources import locate
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.labelling.evaluate_with_labels import evaluate_with_labels
    from retrieval_metrics.labelling.label import Label
    from retrieval_metrics.labelling.labels import Labels
    from retrieval_metrics.labelling.pooling import pool
    from retrieval_metrics.loading import load, save_run
    from retrieval_metrics.questions.evaluation_set import EvaluationSet
    from retrieval_metrics.questions.generating.generate import agenerate_questions, generate_questions
    from retrieval_metrics.questions.generating.prompts import QuestionPrompts
    from retrieval_metrics.rechunking.match import match
    from retrieval_metrics.rechunking.relabel import relabel
    from retrieval_metrics.reranking.batches import mmr_batch
    from retrieval_metrics.reranking.diversity import intra_list_diversity
    from retrieval_metrics.reranking.mmr import mmr, mmr_from_similarity
    from retrieval_metrics.reranking.sweep import mmr_sweep
    from retrieval_metrics.results.totals import Totals
    from retrieval_metrics.retrieving.retrieve import aretrieve, retrieve
    from retrieval_metrics.trajectories.traces.read import read_traces
    from retrieval_metrics.trajectories.trajectories import Trajectories
    from retrieval_metrics.trajectories.trajectory import SearchCall, Trajectory
    from retrieval_metrics.tuning.tune import tune

    __version__: str

__all__ = [
    "DEFAULT_METRICS",
    "Budget",
    "Comparison",
    "Evaluation",
    "EvaluationSet",
    "History",
    "Label",
    "Labels",
    "Limits",
    "Matching",
    "Metadata",
    "Metric",
    "Provenance",
    "Qrels",
    "QuestionPrompts",
    "Quote",
    "RetrievalWarning",
    "Retrieved",
    "RetrievedRun",
    "Rules",
    "Run",
    "SearchCall",
    "Span",
    "Text",
    "Totals",
    "Trajectories",
    "Trajectory",
    "acompare_retrievers",
    "agenerate_questions",
    "aretrieve",
    "audit",
    "average_precision",
    "compare",
    "compare_retrievers",
    "define_metric",
    "evaluate",
    "evaluate_ranking",
    "evaluate_with_labels",
    "f1",
    "fuse",
    "generate_questions",
    "hit_rate",
    "intra_list_diversity",
    "load",
    "locate",
    "match",
    "merge",
    "metrics",
    "mmr",
    "mmr_batch",
    "mmr_from_similarity",
    "mmr_sweep",
    "ndcg",
    "plan",
    "pool",
    "precision",
    "read_corpus",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_traces",
    "recall",
    "reciprocal_rank",
    "relabel",
    "retrieve",
    "save_run",
    "tune",
    "types",
    "write_qrels",
    "write_run",
]

# Names that are imported when they are first used: what only needs one ranking scored does not wait for the rest.
_LAZY = {
    "Comparison": "comparing.comparison",
    "Evaluation": "evaluation.evaluation",
    "EvaluationSet": "questions.evaluation_set",
    "History": "history.history",
    "Label": "labelling.label",
    "Labels": "labelling.labels",
    "Limits": "files.limits",
    "Matching": "judging.matching.matching",
    "Provenance": "inputs.provenance",
    "QuestionPrompts": "questions.generating.prompts",
    "Retrieved": "inputs.retrieved",
    "RetrievedRun": "inputs.retrieved_run",
    "Run": "inputs.run",
    "SearchCall": "trajectories.trajectory",
    "Totals": "results.totals",
    "Trajectories": "trajectories.trajectories",
    "Trajectory": "trajectories.trajectory",
    "__version__": "version",
    "acompare_retrievers": "comparing.compare_retrievers",
    "agenerate_questions": "questions.generating.generate",
    "aretrieve": "retrieving.retrieve",
    "audit": "auditing.audit",
    "compare": "comparing.compare",
    "compare_retrievers": "comparing.compare_retrievers",
    "define_metric": "definition.define",
    "evaluate": "evaluation.evaluate",
    "evaluate_ranking": "evaluation.evaluate_ranking",
    "evaluate_with_labels": "labelling.evaluate_with_labels",
    "fuse": "fusing.fuse",
    "generate_questions": "questions.generating.generate",
    "intra_list_diversity": "reranking.diversity",
    "load": "loading",
    "locate": "inputs.sources",
    "match": "rechunking.match",
    "merge": "evaluation.merge",
    "mmr": "reranking.mmr",
    "mmr_batch": "reranking.batches",
    "mmr_from_similarity": "reranking.mmr",
    "mmr_sweep": "reranking.sweep",
    "plan": "comparing.plan",
    "pool": "labelling.pooling",
    "read_corpus": "files.text_files",
    "read_qrels": "files.reading",
    "read_queries": "files.text_files",
    "read_run": "files.reading",
    "read_traces": "trajectories.traces.read",
    "relabel": "rechunking.relabel",
    "retrieve": "retrieving.retrieve",
    "save_run": "loading",
    "tune": "tuning.tune",
    "write_qrels": "files.writing",
    "write_run": "files.writing",
}


if not TYPE_CHECKING:  # type checkers take the names from the imports above, and report wrong ones
    __getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return __all__
