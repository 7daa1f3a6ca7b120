"""What was met on the way to the numbers: counted, and said in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from retrieval_metrics.inputs.retrieve import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.rules import Rules
    from retrieval_metrics.types import IntArray, QueryId


class Counts(TypedDict):
    """What was met on the way, in numbers.

    Attributes:
        queries: Judged queries.
        scored: Judged queries that enter the means: under standard rules all that have a relevant document, missing
            ones included.
        missing: Judged queries for which nothing was retrieved.
        failed: Judged queries for which the retriever raised; they are among the missing.
        unjudged_queries: Queries of the run that are not judged; they are left out.
        no_relevant: Judged queries without a relevant document.
        duplicates: Places of the rankings taken by a document that stood there before.
        ties: Queries in which a judged document has the same score as another document.
        unplaced: Retrieved items that could not be compared with a span, because their place in its source is not
            known.
        ambiguous: Items without offsets whose text stands in their source more than once; the first place was taken.
    """

    queries: int
    scored: int
    missing: int
    failed: int
    unjudged_queries: int
    no_relevant: int
    duplicates: int
    ties: int
    unplaced: int
    ambiguous: int


def count(judged: JudgedRun, run: Mapping[Any, Any], kept: IntArray, rules: Rules) -> Counts:
    """Count what was met; `kept` are the positions of the queries that the rules keep in the result."""
    undefined = judged.n_relevant() == 0
    common = sum(map(run.__contains__, judged.qrels.queries))
    return Counts(
        queries=judged.n_queries,
        scored=len(kept) if rules.no_relevant == "zero" else int(np.count_nonzero(~undefined[kept])),
        missing=int(np.count_nonzero(judged.n_retrieved == 0)),
        failed=len(failures(judged, run)),
        unjudged_queries=len(run) - common,
        no_relevant=int(np.count_nonzero(undefined)),
        duplicates=int(judged.n_repeated.sum()),
        ties=len(np.unique(judged.items.query[judged.items.tied > 1])),
        unplaced=judged.unplaced,
        ambiguous=judged.ambiguous,
    )


def failures(judged: JudgedRun, run: Mapping[Any, Any]) -> dict[QueryId, Exception]:
    """Return the errors of the judged queries whose retriever raised."""
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    return {query: errors[query] for query in judged.qrels.queries if query in errors} if errors else {}


_REPEATS = {
    "ignore": "earn nothing",
    "count": "are hits again",
    "collapse": "were taken out of the rankings",
    "error": "are refused",
}


def describe(counts: Counts, rules: Rules) -> list[str]:
    """Return what was met in words, one line each, without what did not occur."""
    scored_zero = ", scored 0"
    said: dict[str, str] = {
        "missing": "with nothing retrieved"
        + (scored_zero if rules.missing == "zero" else "; those not in the run left out"),
        "failed": "for which the retriever failed" + (scored_zero if rules.missing == "zero" else ""),
        "unjudged_queries": "in the run but not judged, left out",
        "no_relevant": "without a relevant document"
        + (scored_zero if rules.no_relevant == "zero" else ", undefined and out of the means"),
        "ties": "in which a judged document ties with another",
        "duplicates": f"repeated documents, which {_REPEATS[rules.repeats]}",
        "unplaced": "retrieved items whose place in a source is not known, so that no span was found in them",
        "ambiguous": "items that stand in their source more than once, taken to be the first",
    }
    numbers: Mapping[str, Any] = counts
    queries = f"{counts['queries']} {'query' if counts['queries'] == 1 else 'queries'}"
    first = queries if rules.name == "standard" else f"{queries}, {rules.name} rules"
    return [first, *(f"{numbers[key]} {text}" for key, text in said.items() if numbers[key])]
