"""The examples and runs that LangSmith passes to its evaluators: their judgments, and what was retrieved."""

from __future__ import annotations

import warnings
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from retrieval_metrics import DEFAULT_METRICS, RetrievalWarning
from retrieval_metrics.adapting import RowPaths, RowScorer, Scorer, scored_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics import Metric, Qrels, Retrieved
    from retrieval_metrics.types import DocumentId, MatchBy, QueryScore


Outputs: TypeAlias = dict[str, Any]


class Row(NamedTuple):
    """One run of an example, as an evaluator receives it.

    Attributes:
        outputs: What the target returned.
        reference_outputs: The reference output of the example, which holds the judgments.
        failure: Why the target failed; None if it did not.
    """

    outputs: Mapping[str, Any]
    reference_outputs: Mapping[str, Any]
    failure: str | None = None

    @classmethod
    def of(cls, outputs: Any, reference_outputs: Any, run: Any) -> Row:
        """Return a row; the run is None where an evaluator is called without one."""
        failure = None if run is None or not run.error else f"the target failed: {run.error}"
        return cls(outputs or {}, reference_outputs or {}, failure)

    def truth(self, paths: RowPaths) -> Qrels:
        """Return the judgments.

        Raises:
            TypeError: If they have a wrong shape.
            ValueError: If there are none, or they cannot be used.
        """
        return Scorer.truth(paths.judgments(self._asdict()), "the example")

    def retrieved(self, paths: RowPaths) -> list[Retrieved | DocumentId]:
        """Return what was retrieved, best first; nothing if the target failed.

        Raises:
            TypeError: If it is not a list of documents.
            ValueError: If the output does not hold it.
        """
        return [] if self.failure else paths.items(self._asdict())

    def scores(self, scorer: RowScorer, paths: RowPaths) -> dict[Metric, QueryScore]:
        """Return the score of each metric.

        Raises:
            TypeError: If the judgments, or what was retrieved, have a wrong shape.
            ValueError: If the row cannot be judged, which says nothing about the retriever.
        """
        found = partial(self.retrieved, paths)
        return scorer.row(self.truth(paths), found, failure=self.failure, name="the output")


def warned_of(error: Exception) -> str:
    """Return why a row cannot be judged, and warn: LangSmith only logs what is raised, and not beside the question."""
    warnings.warn(str(error), RetrievalWarning, stacklevel=3)
    return str(error)


class RowSettings:
    """What evaluators for LangSmith are settings.

    Attributes:
        metrics: The metrics.
        options: What a scorer is told besides them.
        paths: Where a row has its judgments, and what was retrieved.
        keys: The key of each metric: with all that is not the default, or with what the user puts before it.
    """

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        documents_key: str = "documents",
        relevant_key: str = "relevant",
        documents: Any = None,
        max_grade: float | None = None,
        prefix: str | None = None,
    ) -> None:
        self.options: dict[str, Any] = {"match": match, "documents": documents, "max_grade": max_grade}
        self.metrics = Scorer(metrics, **self.options).metrics
        self.paths = RowPaths(f"reference_outputs.{relevant_key}", f"outputs.{documents_key}")
        chosen = {
            "match": match,
            "documents_key": documents_key,
            "relevant_key": relevant_key,
            "max_grade": max_grade,
        }
        usual = {name: signature(RowSettings).parameters[name].default for name in chosen}
        self.keys = {metric: scored_name(str(metric), chosen, usual, prefix=prefix) for metric in self.metrics}

    def row_scorer(self, *metrics: Metric) -> RowScorer:
        """Return the scorer of single examples, for some of the metrics or for all.

        Raises:
            ValueError: If a metric divides by the largest grade of all judgments, and that is not given.
        """
        return RowScorer(metrics or self.metrics, **self.options)


def unscored(settings: RowSettings, comment: str | None) -> Outputs:
    """Return a comment instead of a score under each key."""
    return {"results": [{"key": key, "score": None, "comment": comment} for key in settings.keys.values()]}
