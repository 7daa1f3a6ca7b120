"""The types that annotations and `isinstance` name: what is returned, and the shapes of what is accepted."""

from typing import TYPE_CHECKING

from retrieval_metrics.lazy import lazy

if TYPE_CHECKING:
    # These exist for type checkers alone, so __all__ cannot name them.
    from retrieval_metrics.aliases import BoolArray as BoolArray  # noqa: PLC0414  (exported by this form)
    from retrieval_metrics.aliases import DocumentId, QueryId
    from retrieval_metrics.aliases import FloatArray as FloatArray  # noqa: PLC0414  (likewise)
    from retrieval_metrics.auditing.audit import Audit, RuleDifference
    from retrieval_metrics.comparing.plan import Plan
    from retrieval_metrics.definition.definition import ParameterValue
    from retrieval_metrics.evaluation.slices import Slices
    from retrieval_metrics.evaluation.stages import Stages
    from retrieval_metrics.explaining.explanation import Explanation, Worst
    from retrieval_metrics.explaining.finding import Finding
    from retrieval_metrics.inputs.pieces import Piece
    from retrieval_metrics.inputs.question_clusters import ClustersBy
    from retrieval_metrics.inputs.retrieved_run import Seen
    from retrieval_metrics.inputs.shapes import Judgments, QrelsMapping, Ranking
    from retrieval_metrics.judging.matching.matching import Key as Key  # noqa: PLC0414  (likewise)
    from retrieval_metrics.judging.matching.matching import MatchBy as MatchBy  # noqa: PLC0414  (likewise)
    from retrieval_metrics.labelling.estimate import Estimate
    from retrieval_metrics.labelling.estimated import EstimatedDifference
    from retrieval_metrics.labelling.people_and_model import Agreement
    from retrieval_metrics.labelling.pool import Pool
    from retrieval_metrics.models.calls import Calls
    from retrieval_metrics.questions.generating.generated import GeneratedQuestions, RejectedQuestion
    from retrieval_metrics.questions.linting.findings import LintFinding
    from retrieval_metrics.questions.linting.result import Lint
    from retrieval_metrics.questions.sample import Sample
    from retrieval_metrics.rechunking.match import Match, Matches
    from retrieval_metrics.rechunking.relabel import Relabelled, Relabelling
    from retrieval_metrics.reranking.selection import Selection
    from retrieval_metrics.reranking.sweep import MMRSweep
    from retrieval_metrics.results.by_metric import ByMetric
    from retrieval_metrics.results.conclusion import Conclusion
    from retrieval_metrics.results.conclusions import Conclusions
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.query_scores import QueryScore
    from retrieval_metrics.results.room import BudgetUse, Filling
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.results.tie_range import TieRange
    from retrieval_metrics.retrieving.judgeable import Judgeable
    from retrieval_metrics.statistics.intervals import Interval
    from retrieval_metrics.statistics.paired import PairedDifference
    from retrieval_metrics.trajectories.views import CallsView, View
    from retrieval_metrics.tuning.tuning import Tuning

__all__ = [
    "Agreement",
    "Audit",
    "BudgetUse",
    "ByMetric",
    "Calls",
    "CallsView",
    "ClustersBy",
    "Conclusion",
    "Conclusions",
    "Counts",
    "Difference",
    "DocumentId",
    "Estimate",
    "EstimatedDifference",
    "Explanation",
    "Filling",
    "Finding",
    "GeneratedQuestions",
    "Interval",
    "Judgeable",
    "Judgments",
    "Lint",
    "LintFinding",
    "MMRSweep",
    "Match",
    "Matches",
    "PairedDifference",
    "ParameterValue",
    "Piece",
    "Plan",
    "Pool",
    "QrelsMapping",
    "QueryId",
    "QueryScore",
    "Ranking",
    "RejectedQuestion",
    "Relabelled",
    "Relabelling",
    "RuleDifference",
    "Sample",
    "Scores",
    "Seen",
    "Selection",
    "Slices",
    "Stages",
    "TieRange",
    "Tuning",
    "View",
    "Worst",
]

if not TYPE_CHECKING:  # a type checker knows the names from above
    __getattr__ = lazy(
        __name__,
        {
            "ClustersBy": "inputs.question_clusters",
            "Seen": "inputs.retrieved_run",
            "Ranking": "inputs.shapes",
            "QueryScore": "results.query_scores",
            "QueryId": "aliases",
            "QrelsMapping": "inputs.shapes",
            "Piece": "inputs.pieces",
            "ParameterValue": "definition.definition",
            "Judgments": "inputs.shapes",
            "Judgeable": "retrieving.judgeable",
            "DocumentId": "aliases",
            "CallsView": "trajectories.views",
            "Agreement": "labelling.people_and_model",
            "Audit": "auditing.audit",
            "BudgetUse": "results.room",
            "ByMetric": "results.by_metric",
            "Calls": "models.calls",
            "Counts": "results.counts",
            "Conclusion": "results.conclusion",
            "Conclusions": "results.conclusions",
            "Difference": "results.difference",
            "Estimate": "labelling.estimate",
            "EstimatedDifference": "labelling.estimated",
            "Explanation": "explaining.explanation",
            "Filling": "results.room",
            "Finding": "explaining.finding",
            "GeneratedQuestions": "questions.generating.generated",
            "Interval": "statistics.intervals",
            "Lint": "questions.linting.result",
            "LintFinding": "questions.linting.findings",
            "MMRSweep": "reranking.sweep",
            "Match": "rechunking.match",
            "Matches": "rechunking.match",
            "PairedDifference": "statistics.paired",
            "Plan": "comparing.plan",
            "Pool": "labelling.pool",
            "RejectedQuestion": "questions.generating.generated",
            "Relabelled": "rechunking.relabel",
            "Relabelling": "rechunking.relabel",
            "RuleDifference": "auditing.audit",
            "Sample": "questions.sample",
            "Scores": "results.scores",
            "Selection": "reranking.selection",
            "Slices": "evaluation.slices",
            "Stages": "evaluation.stages",
            "TieRange": "results.tie_range",
            "Tuning": "tuning.tuning",
            "View": "trajectories.views",
            "Worst": "explaining.explanation",
        },
        package="retrieval_metrics",
    )


def __dir__() -> list[str]:
    return __all__
