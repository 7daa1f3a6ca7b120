"""Check the set as a whole: whether it has too few documents or too few questions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.statistics.power import queries_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.aliases import FloatArray, QueryId
    from retrieval_metrics.questions.linting.subject import Subject

FEWEST_SOURCES = 10
"""With fewer documents of equal share, intervals over documents mean little."""
FEWEST_QUESTIONS = 10
USUAL_SPREAD = 0.3
"""The assumed standard deviation of the difference of two retrievers in a metric from 0 to 1, without two runs."""
SAMPLE = 500
"""The assumed standard deviation counts as known from twice this many questions."""


def few_sources(subject: Subject, known: Mapping[QueryId, str]) -> Iterator[LintFinding]:
    """Yield a finding if the questions come from few documents.

    The effective number of documents is 1 / sum of squared shares: n for n documents of equal share, 1 for one.
    """
    source_of = {query: source for query in subject.queries if (source := _source(subject, query, known)) is not None}
    if len(source_of) < FEWEST_QUESTIONS:
        return
    counts = Counter(source_of.values())
    shares = np.array(list(counts.values())) / len(source_of)
    effective = float(1 / (shares**2).sum())
    if effective >= FEWEST_SOURCES:
        return
    largest, count = counts.most_common(1)[0]
    yield LintFinding(
        "few_sources",
        None,
        f"{len(source_of)} questions come from {len(counts)} documents, which is worth {effective:.1f} of equal share; "
        f"{largest!r} alone has {count}. Questions about one document depend on each other: evaluate and compare "
        "take them as clusters, so intervals are wide",
        {"sources": dict(counts.most_common()), "effective": effective},
    )


def _source(subject: Subject, query: QueryId, known: Mapping[QueryId, str]) -> Any:
    if query in known:
        return known[query]
    for judged in subject.relevant[query]:
        if isinstance(judged, Span):
            return judged.source
        if subject.passages is not None and isinstance(judged, (str, int)):
            item = subject.passages.by_id.get(judged)
            if item is not None:
                return item.source
    return None


def too_few_questions(
    subject: Subject, values: Mapping[str, FloatArray], metric: str, difference: float
) -> Iterator[LintFinding]:
    """Yield a finding if the wanted difference needs more questions than there are.

    Args:
        subject: The questions.
        values: The metric of each query, by run; with two runs their differences show the spread.
        metric: The name of the metric.
        difference: The wanted difference of its means.
    """
    differences, where = np.array([USUAL_SPREAD, -USUAL_SPREAD] * SAMPLE), "the usual spread of two retrievers"
    if len(values) > 1:
        one, other = list(values.values())[:2]
        paired = (one - other)[~np.isnan(one - other)]
        if len(paired) > 1 and paired.any():
            differences, where = paired, f"the spread of {' against '.join(list(values)[:2])}"
    needed = queries_needed(differences, difference)
    spread = float(differences.std(ddof=1))
    count = sum(bool(relevant) for relevant in subject.relevant.values())
    if count < needed.low:
        yield LintFinding(
            "too_few_questions",
            None,
            f"detecting a difference of {difference:g} in {metric} with 80 % power needs {needed.low:,} to "
            f"{needed.high:,} questions, by {where} ({spread:.2f}); {count:,} have something relevant",
            {"needed": tuple(needed), "questions": count, "difference": difference, "spread": spread},
        )
