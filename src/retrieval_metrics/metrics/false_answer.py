"""False answer: did anything come back for a question that nothing answers?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.metrics.base.definition import REL, Definition
from retrieval_metrics.metrics.base.single_ranking import score_one

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, Gains
    from retrieval_metrics.matching.judged_run import JudgedRun


def false_answer(gains: Gains) -> float:
    """Return 1 if anything was retrieved for a query without a relevant document, else 0.

        false_answer = 1 if n > 0, else 0

    where n is the number retrieved. Lower is better. Range {0, 1}. An empty list scores 0. It is undefined (NaN) if
    a document is relevant and, in an evaluation, if the retriever failed or the run lacks the query. Neither ties nor
    duplicates matter.

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.

    Raises:
        TypeError: If `gains` is not a list of numbers.
        ValueError: If a gain is not finite.

    Example:
        >>> false_answer([None, 0]), false_answer([])  # two results where there is no answer; none
        (1.0, 0.0)
        >>> false_answer([0, 1])
        nan
    """
    return score_one(DEFINITION, gains)


def score(judged: JudgedRun, *, k: Cut, rel: float | None = None) -> FloatArray:
    """Return the false answer of every query, shape (queries,); NaN where something is relevant or no answer came."""
    return judged.where_answered(judged.n_relevant(rel) == 0, judged.n_within(k) > 0)


DEFINITION = Definition(
    name="false_answer",
    score=score,
    summary="1 if anything was retrieved for a query without a relevant document, else 0",
    plain_summary="share of unanswerable queries with any result",
    parameters={"rel": REL},
    takes_cutoff=False,
    binary=True,
    higher_is_better=False,
    needs_relevant=False,
    undefined_if="every query has a relevant document",
    keeps_unjudged_places=True,
    ignores_groups=True,
    mean_over_orders=score,
)
