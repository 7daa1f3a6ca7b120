"""Check a set as a whole: whether it has too few documents or too few questions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.plan import plan
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.statistics.power import queries_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.datasets.lint_input import LintInput
    from retrieval_metrics.metrics.base.metric import Metric


# With fewer documents of equal share, intervals over documents mean little.
MIN_SOURCES = 10

# Of fewer questions, the number of their documents says nothing.
MIN_QUESTIONS = 10

# From so many runs on, their differences show how much retrievers vary; else the published spreads are used.
N_COMPARED_RUNS = 2


def find_few_sources(subject: LintInput) -> Iterator[LintFinding]:
    """Yield a finding if the questions come from few documents."""
    n_by_source: Counter[str] = Counter()
    are_clusters = True
    for query in subject.queries:
        source = _find_own_source(subject, query)
        if source is None:
            source = _find_source_in_corpus(subject, query)
            are_clusters &= source is None
        if source is not None:
            n_by_source[source] += 1
    n_questions = n_by_source.total()
    if n_questions < MIN_QUESTIONS:
        return
    effective = n_questions**2 / sum(count**2 for count in n_by_source.values())
    if effective >= MIN_SOURCES:
        return
    largest_first = dict(n_by_source.most_common())
    message = wording.format_few_sources(largest_first, n_questions, effective, are_clusters=are_clusters)
    yield LintFinding("few_sources", None, message, {"sources": largest_first, "effective": effective})


def _find_own_source(subject: LintInput, query: QueryId) -> str | None:
    """Return the document of a question as the set names it, by which evaluations cluster it; None if it does not."""
    if query in subject.sources:
        return subject.sources[query]
    for judged in subject.relevant[query]:
        if isinstance(judged, Span):
            return judged.source
    return None


def _find_source_in_corpus(subject: LintInput, query: QueryId) -> str | None:
    """Return the document of the first relevant passage that the corpus has; None if it has none."""
    if subject.passages is None:
        return None
    for judged in subject.relevant[query]:
        if not isinstance(judged, (str, int)):
            continue
        if subject.match != "id" and judged in subject.passages.ids:
            return str(judged)  # the name of a document, such as that of its file
        item = subject.passages.by_id.get(judged)
        if item is not None:
            return item.source
    return None


def find_too_few_questions(subject: LintInput, metric: Metric, difference: float) -> Iterator[LintFinding]:
    """Yield a finding if a difference of means needs more questions than there are."""
    values_by_run = subject.values(metric)
    n_questions = subject.n_with_relevant
    differences = _paired_differences(list(values_by_run.values()))
    runs: list[str] = []
    if differences is None:
        planned = plan(difference, str(metric))
        n_enough = planned.n_questions
        needed_range = planned.range
        spread = planned.scenarios[1].sd
    else:
        needed_range = queries_needed(differences, difference)
        n_enough = needed_range[0]
        spread = float(differences.std(ddof=1))
        runs = list(values_by_run)[:N_COMPARED_RUNS]
    if n_questions < n_enough:
        yield LintFinding(
            "too_few_questions",
            None,
            wording.format_too_few_questions(
                metric=str(metric),
                difference=difference,
                needed_range=needed_range,
                n_questions=n_questions,
                spread=spread,
                runs=runs,
            ),
            {"needed": tuple(needed_range), "questions": n_questions, "difference": difference, "spread": spread},
        )


def _paired_differences(values_of_runs: Sequence[FloatArray]) -> FloatArray | None:
    """Return the differences of the first two runs; None if they show no spread."""
    if len(values_of_runs) < N_COMPARED_RUNS:
        return None
    differences = values_of_runs[0] - values_of_runs[1]
    defined = differences[~np.isnan(differences)]
    has_spread = len(defined) >= N_COMPARED_RUNS and defined.any()
    return defined if has_spread else None
