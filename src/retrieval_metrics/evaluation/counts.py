"""Count the issues in the data of an evaluation, such as missing queries and duplicate documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrieval_metrics.evaluation.ranking_depths import UNKNOWN_DEPTHS, DepthCounts, count_depths, merge_depths
from retrieval_metrics.inputs.retrieved_run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray, QueryId
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


class Counts(DepthCounts):
    """The numbers of issues in the data of an evaluation, and where its rankings end.

    Attributes:
        queries: Judged queries.
        scored: Judged queries that enter the means: under standard rules all that have a relevant document, missing
            ones included.
        missing: Judged queries with a relevant document for which nothing was retrieved, or whose retriever raised.
        failed: Judged queries for which the retriever raised; they are among the missing.
        unjudged_queries: Queries of the run that are not judged; they are left out.
        no_relevant: Judged queries without a relevant document.
        duplicates: Ranks taken by a document that appears earlier in the same ranking.
        excluded: Documents left out of the rankings by `exclude=`.
        ties: Queries in which a judged document has the same score as another document.
        unlocated: Retrieved items that could not be compared with a span, because their position in its source is
            unknown.
        invalid_offsets: Retrieved items whose offsets do not fit their text or their source, so they were searched for
            by their text; those not found are unlocated too.
        ambiguous_locations: Items searched for by their text that occur in their source more than once; the place with
            a judged span was used, else the first.
        without_match_value: Retrieved items without a value for `match=`, such as chunks without a source; they match
            no judged id.
        near_misses: Relevant documents that were not found, but for whose query an id was retrieved that nearly equals
            theirs; see `retrieval_metrics.matching.near_misses`.
    """

    queries: int
    scored: int
    missing: int
    failed: int
    unjudged_queries: int
    no_relevant: int
    duplicates: int
    excluded: int
    ties: int
    unlocated: int
    invalid_offsets: int
    ambiguous_locations: int
    without_match_value: int
    near_misses: int


def count_issues(
    judged: JudgedRun,
    run: Mapping[Any, Any],
    metrics: Sequence[Metric],
    rules: Rules,
    scored_positions: IntArray | None = None,
) -> Counts:
    """Count the issues in a judged run.

    Args:
        judged: The judged run.
        run: The run, as given.
        metrics: The metrics.
        rules: The rule set.
        scored_positions: The positions of the queries that are scored; None for all.
    """
    is_undefined = judged.without_relevant()
    if is_undefined is None:
        is_undefined = np.zeros(judged.n_queries, dtype=np.bool_)
    has_relevant = ~is_undefined
    if scored_positions is not None:
        has_relevant = has_relevant[scored_positions]
    n_missing = int(np.count_nonzero(_is_missing(judged, run))) if judged.without_results else 0
    return Counts(
        queries=judged.n_queries,
        scored=int(np.count_nonzero(counts_in_means(has_relevant, rules))),
        missing=n_missing,
        failed=len(find_failed_queries(judged, run)),
        unjudged_queries=len(run) - judged.count_queries_in(run),
        no_relevant=int(np.count_nonzero(is_undefined)),
        duplicates=len(judged.duplicates.query),
        excluded=0 if judged.n_excluded is None else int(judged.n_excluded.sum()),
        ties=len(judged.tied_queries()),
        unlocated=len(judged.unlocated),
        invalid_offsets=judged.invalid_offsets,
        ambiguous_locations=judged.ambiguous_locations,
        without_match_value=judged.without_match_value,
        near_misses=len(judged.near_misses) if judged.near_misses else 0,
        **count_depths(judged.n_retrieved, metrics, judged.n_excluded, judged.corpus_size),
    )


def count_issues_of_slice(
    judged: JudgedRun, run: Mapping[Any, Any], metrics: Sequence[Metric], rules: Rules, positions: IntArray
) -> Counts:
    """Count the issues of the queries at some positions; those that are known only of a whole run are 0."""
    is_undefined = judged.n_relevant()[positions] == 0
    return Counts(
        queries=len(positions),
        scored=int(np.count_nonzero(counts_in_means(~is_undefined, rules))),
        missing=int(np.count_nonzero(_is_missing(judged, run)[positions])),
        failed=len(find_failed_queries(judged, run, positions)),
        unjudged_queries=0,
        no_relevant=int(np.count_nonzero(is_undefined)),
        duplicates=int(judged.n_duplicates[positions].sum()),
        excluded=0 if judged.n_excluded is None else int(judged.n_excluded[positions].sum()),
        ties=len(np.intersect1d(judged.tied_queries(), positions)),
        unlocated=0,
        invalid_offsets=0,
        ambiguous_locations=0,
        without_match_value=0,
        near_misses=_count_near_misses(judged, positions),
        **_count_depths_of_slice(judged, metrics, positions),
    )


def _count_depths_of_slice(judged: JudgedRun, metrics: Sequence[Metric], positions: IntArray) -> DepthCounts:
    n_excluded = None if judged.n_excluded is None else judged.n_excluded[positions]
    return count_depths(judged.n_retrieved[positions], metrics, n_excluded, judged.corpus_size)


def _is_missing(judged: JudgedRun, run: Mapping[Any, Any]) -> BoolArray:
    """Return for which queries nothing was retrieved although something was expected."""
    is_missing: BoolArray = expects_results(judged, run) & (judged.n_retrieved == 0)
    return is_missing


def _count_near_misses(judged: JudgedRun, positions: IntArray) -> int:
    """Count the near misses that were found of the queries at some positions."""
    if not judged.near_misses:
        return 0
    queries = {judged.qrels.queries[position] for position in positions.tolist()}
    return sum(near_miss.query in queries for near_miss in judged.near_misses.entries)


def expects_results(judged: JudgedRun, run: Mapping[Any, Any]) -> BoolArray:
    """Return for which queries an empty ranking is a failure: those with a relevant document, or an error.

    For a query without a relevant document, an empty ranking is correct.
    """
    is_expected: BoolArray = judged.n_relevant() > 0
    for query in find_failed_queries(judged, run):
        is_expected[judged.qrels.place[query]] = True
    return is_expected


def count_given_scores(values: FloatArray) -> Counts:
    """Return the counts of given scores, shape (queries, metrics); all counts but those of queries are 0."""
    return Counts(
        queries=len(values),
        scored=int((~np.isnan(values)).any(axis=1).sum()),
        missing=0,
        failed=0,
        unjudged_queries=0,
        no_relevant=0,
        duplicates=0,
        excluded=0,
        ties=0,
        unlocated=0,
        invalid_offsets=0,
        ambiguous_locations=0,
        without_match_value=0,
        near_misses=0,
        **UNKNOWN_DEPTHS,
    )


def merge_counts(counts: Counts, other: Counts) -> Counts:
    """Return the counts of the queries of both: their sums, and where the rankings of both end."""
    own_counts = cast("dict[str, int]", counts)
    other_counts = cast("dict[str, int]", other)
    merged = {name: own_counts[name] + other_counts[name] for name in own_counts if name in Counts.__required_keys__}
    return cast("Counts", merged | merge_depths(counts, other))


def counts_in_means(has_relevant: BoolArray, rules: Rules) -> BoolArray:
    """Return which of the queries kept by the rules enter the means: those with a relevant document, or all."""
    return has_relevant | (rules.no_relevant == "zero")


def find_failed_queries(
    judged: JudgedRun, run: Mapping[Any, Any], positions: IntArray | None = None
) -> dict[QueryId, Exception]:
    """Return the error of each judged query whose retriever raised, of all queries or of those at some positions."""
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    if not errors:
        return {}
    queries = judged.qrels.queries
    if positions is not None:
        queries = [queries[position] for position in positions.tolist()]
    return {query: errors[query] for query in queries if query in errors}
