"""Write the sentences about failed queries: how many there are, what they score, and what differs without them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.redaction import show_error
from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.evaluation.summary_wording import format_treatment
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion
    from retrieval_metrics.comparison.failed_queries import FailedQueries


class _NoteKey(NamedTuple):
    """What conclusions share that are printed in one sentence, with their metrics listed."""

    system: str
    baseline: str
    n_left: int


def format_failures(system: str, errors: Mapping[Any, Exception]) -> str:
    """Return on how many queries a system failed, with an example."""
    query, error = next(iter(errors.items()))
    queries = numbers.format_query_count(len(errors))
    return f"{system} failed on {queries}, for example {query!r}: {show_error(error)}"


def format_failed_queries(failures: FailedQueries, systems: list[str]) -> str:
    """Return on how many queries some systems failed, and what these queries score."""
    each = "" if len(systems) == 1 else " each"
    names = numbers.join_names(systems, most=MAX_NAMES)
    text = f"{names}{each} failed on {failures.n_failed:,} of {numbers.format_query_count(failures.n_queries)}"
    # Where the rules skip queries, they keep a failed one: its ranking is there, and empty.
    if failures.treatment is not None and failures.treatment != "skipped":
        text += f", which {format_treatment(failures.treatment, failures.n_failed)}"
    return f"{text}."


def failure_notes(conclusions: Sequence[Conclusion]) -> list[str]:
    """Return what is left of significant differences without the queries that failed, a sentence for each pair."""
    conclusions_by_key: defaultdict[_NoteKey, list[Conclusion]] = defaultdict(list)
    for conclusion in conclusions:
        if conclusion.without_failures is not None:
            key = _NoteKey(conclusion.system, conclusion.baseline, conclusion.without_failures.n)
            conclusions_by_key[key].append(conclusion)
    return [_format_without_failures(key, group) for key, group in conclusions_by_key.items()]


def _format_without_failures(key: _NoteKey, conclusions: Sequence[Conclusion]) -> str:
    if not key.n_left:
        metrics = numbers.join_names([conclusion.metric for conclusion in conclusions])
        return f"{key.system} or {key.baseline} failed on every query on which {metrics} could be compared."
    metrics_by_mean: defaultdict[str, list[str]] = defaultdict(list)
    means = []
    for conclusion in conclusions:
        if conclusion.without_failures is not None:
            mean = conclusion.without_failures.mean
            means.append(mean)
            metrics_by_mean[numbers.format_signed(mean)].append(conclusion.metric)
    clauses = [f"{mean} in {numbers.join_names(metrics)}" for mean, metrics in metrics_by_mean.items()]
    values = clauses[-1]
    if len(clauses) > 1:
        values = f"{', '.join(clauses[:-1])}, and {clauses[-1]}"
    if len(clauses) > MAX_NAMES:
        metrics = numbers.join_names([conclusion.metric for conclusion in conclusions])
        values = f"{numbers.format_signed(min(means))} to {numbers.format_signed(max(means))} in {metrics}"
    queries = numbers.format_query_count(key.n_left)
    return f"On the {queries} on which neither failed, {key.system} - {key.baseline} is {values}."
