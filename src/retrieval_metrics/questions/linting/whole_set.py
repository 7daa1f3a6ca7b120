"""Check the set as a whole: whether it has too few documents or too few questions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparing.plan import plan
from retrieval_metrics.inputs.items import Span
from retrieval_metrics.presentation import numbers
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.statistics.power import queries_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.checks import FloatArray, QueryId
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.scoring.metric import Metric

FEWEST_SOURCES = 10
"""With fewer documents of equal share, intervals over documents mean little."""
FEWEST_QUESTIONS = 10
TWO_RUNS = 2
"""With so many runs their differences show how much retrievers vary; without, the published spreads do."""


def few_sources(subject: Subject) -> Iterator[LintFinding]:
    """Yield a finding if the questions come from few documents.

    The effective number of documents is 1 / sum of squared shares: n for n documents of equal share, 1 for one.
    """
    source_of = {query: source for query in subject.queries if (source := _source(subject, query)) is not None}
    if len(source_of) < FEWEST_QUESTIONS:
        return
    counts = Counter(source_of.values())
    effective = len(source_of) ** 2 / sum(count**2 for count in counts.values())
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


def _source(subject: Subject, query: QueryId) -> Any:
    if query in subject.sources:
        return subject.sources[query]
    for judged in subject.relevant[query]:
        if isinstance(judged, Span):
            return judged.source
        if subject.passages is not None and isinstance(judged, (str, int)):
            item = subject.passages.by_id.get(judged)
            if item is not None:
                return item.source
    return None


def too_few_questions(subject: Subject, metric: Metric, difference: float) -> Iterator[LintFinding]:
    """Yield a finding if a difference of means needs more questions than there are.

    With two runs, their differences show how much retrievers vary.
    """
    values = subject.values(metric)
    count = sum(bool(relevant) for relevant in subject.relevant.values())
    differences = _of_two_runs(values)
    if differences is None:
        planned = plan(difference, str(metric))
        enough, needed, spread = planned.questions, planned.range, planned.rows[1].spread
        where = "how much retrievers usually differ"
    else:
        needed, spread = queries_needed(differences, difference), float(differences.std(ddof=1))
        enough, where = needed[0], f"how much {' and '.join(list(values)[:2])} differ"
    if count < enough:
        yield LintFinding(
            "too_few_questions",
            None,
            f"detecting a difference of {difference:g} in {metric} with 80 % power needs {needed[0]:,} to "
            f"{needed[1]:,} questions, by {where} ({numbers.value(spread)}); {count:,} have something relevant",
            {"needed": tuple(needed), "questions": count, "difference": difference, "spread": spread},
        )


def _of_two_runs(values: Mapping[str, FloatArray]) -> FloatArray | None:
    """Return the differences of the first two runs; None if they show no spread."""
    if len(values) < TWO_RUNS:
        return None
    one, other = list(values.values())[:TWO_RUNS]
    paired = (one - other)[~np.isnan(one - other)]
    return paired if len(paired) >= TWO_RUNS and paired.any() else None
