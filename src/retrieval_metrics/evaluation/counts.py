"""Count and describe issues of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from retrieval_metrics.inputs.retrieved_run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, IntArray, QueryId
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


NOTHING_JUDGED_FOUND = "none of the retrieved documents is judged for its query, so every metric is 0"
ID_MISMATCH_HINT = "is the retriever broken, or are the ids of chunks compared with the ids of documents?"


class Counts(TypedDict):
    """The numbers of issues in the data of an evaluation.

    Attributes:
        queries: Judged queries.
        scored: Judged queries that enter the means: under standard rules all that have a relevant document, missing
            ones included.
        missing: Judged queries with a relevant document for which nothing was retrieved, or whose retriever raised.
        failed: Judged queries for which the retriever raised; they are among the missing.
        unjudged_queries: Queries of the run that are not judged; they are left out.
        no_relevant: Judged queries without a relevant document.
        duplicates: Places in the rankings taken by a document that appears earlier in the same ranking.
        ties: Queries in which a judged document has the same score as another document.
        unlocated: Retrieved items that could not be compared with a span, because their position in its source is
            unknown.
        invalid_offsets: Retrieved items whose offsets do not fit their text or their source, so they were searched for by
            their text; those not found are unlocated too.
        ambiguous_locations: Items searched for by their text that occur in their source more than once; the place with a judged
            span was used, else the first.
    """

    queries: int
    scored: int
    missing: int
    failed: int
    unjudged_queries: int
    no_relevant: int
    duplicates: int
    ties: int
    unlocated: int
    invalid_offsets: int
    ambiguous_locations: int


def count_issues(
    judged: JudgedRun,
    run: Mapping[Any, Any],
    rules: Rules,
    kept: IntArray | None = None,
    among: IntArray | None = None,
) -> Counts:
    """Count the issues."""
    looked_at: slice | IntArray = slice(None) if among is None else among
    undefined = judged.n_relevant() == 0
    enters = counts_in_means(~(undefined if kept is None else undefined[kept]), rules)
    tied = judged.tied_queries()
    unjudged = len(run) - sum(map(run.__contains__, judged.qrels.queries)) if among is None else 0
    return Counts(
        queries=judged.n_queries if among is None else len(among),
        scored=int(np.count_nonzero(enters)),
        missing=int(np.count_nonzero((expects_results(judged, run) & (judged.n_retrieved == 0))[looked_at])),
        failed=len(find_failed_queries(judged, run, among)),
        unjudged_queries=unjudged,
        no_relevant=int(np.count_nonzero(undefined[looked_at])),
        duplicates=int(judged.n_duplicates[looked_at].sum()),
        ties=len(tied if among is None else np.intersect1d(tied, among)),
        unlocated=len(judged.unlocated) if among is None else 0,
        invalid_offsets=judged.invalid_offsets if among is None else 0,
        ambiguous_locations=judged.ambiguous_locations if among is None else 0,
    )


def expects_results(judged: JudgedRun, run: Mapping[Any, Any]) -> BoolArray:
    """Return for which queries an empty ranking is a failure: those with a relevant document, or an error.

    Where nothing is relevant, returning nothing is right.
    """
    wanting: BoolArray = judged.n_relevant() > 0
    for query in find_failed_queries(judged, run):
        wanting[judged.qrels.place[query]] = True
    return wanting


def count_given_scores(values: FloatArray) -> Counts:
    """Return the counts of given scores, shape (queries, metrics), of which only the queries are known."""
    return Counts(
        queries=len(values),
        scored=int((~np.isnan(values)).any(axis=1).sum()),
        missing=0,
        failed=0,
        unjudged_queries=0,
        no_relevant=0,
        duplicates=0,
        ties=0,
        unlocated=0,
        invalid_offsets=0,
        ambiguous_locations=0,
    )


def counts_in_means(has_relevant: BoolArray, rules: Rules) -> BoolArray:
    """Return which of the queries kept by the rules enter the means: those with a relevant document, or all."""
    return has_relevant | (rules.no_relevant == "zero")


def find_failed_queries(
    judged: JudgedRun, run: Mapping[Any, Any], among: IntArray | None = None
) -> dict[QueryId, Exception]:
    """Return the errors of the judged queries (of some of them) whose retriever raised."""
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    if not errors:
        return {}
    queries = judged.qrels.queries
    chosen = queries if among is None else [queries[at] for at in among.tolist()]
    return {query: errors[query] for query in chosen if query in errors}


_REPEATS = {
    "ignore": "earn nothing",
    "count": "are hits again",
    "error": "are refused",
}


def describe_counts(counts: Counts, rules: Rules, metrics: Sequence[Metric] = ()) -> list[str]:
    """Return the issues in words, one line each, without those that did not occur."""
    others = any(not (one.definition.higher_is_better or one.definition.needs_relevant) for one in metrics)
    out = ", out of the means that need one" if others else ", undefined and out of the means"
    scored_zero = ", scored 0"
    said: dict[str, str] = {
        "missing": "with nothing retrieved"
        + (scored_zero if rules.missing == "zero" else "; those not in the run left out"),
        "failed": "for which the retriever failed" + (scored_zero if rules.missing == "zero" else ""),
        "unjudged_queries": "in the run but not judged, left out",
        "no_relevant": "without a relevant document" + (scored_zero if rules.no_relevant == "zero" else out),
        "ties": "in which a judged document ties with another",
        "duplicates": f"repeated documents, which {_REPEATS[rules.duplicates]}",
        "unlocated": "retrieved items whose position in a source is unknown, so no span was found in them",
        "invalid_offsets": "retrieved items whose offsets do not fit their text or source and were ignored",
        "ambiguous_locations": "items that occur in their source more than once; a place with a judged span was used",
    }
    numbers: Mapping[str, int] = {**counts, "missing": max(counts["missing"] - counts["failed"], 0)}  # type: ignore[dict-item]  # all are numbers
    queries = f"{counts['queries']} {'query' if counts['queries'] == 1 else 'queries'}"
    first = queries if rules.name == "standard" else f"{queries}, {rules.name} rules"
    if rules.unjudged == "condensed":
        first += ", unjudged documents removed from the rankings"
    return [first, *(f"{numbers[key]} {text}" for key, text in said.items() if numbers[key])]
